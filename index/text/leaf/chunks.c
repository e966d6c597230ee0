/* A chunk, which is a piece of text without spaces whose letters of ASCII are in lower case, to its terms.

   Three kinds are cut here: ASCII without names that keep their signs, words with signs around that join none, and runs
   of Han, kana and Hangul with what stands between them. ChunkMemo in analyzer.py is the definition of each; Python is
   asked of all else, and of each new word that is not ASCII. */
#include "leaf.h"

enum { MAX_TERM = 64, MAX_JOINED = 32, MAX_PARTS = 4 };                        /* as in analyzer.py, */
enum { LEAST_LETTERS = 2, MOST_LETTERS = 12, LEAST_DIGITS = 1, MOST_DIGITS = 5 }; /* and its _NUMBERED */
enum Outcome { FAILED = -1, NOT_OURS = 0, IS_CUT = 1 };

static int say(Cutter *self, int64_t number)
{
    return number < 0 ? -1 : push_number(&self->said, (uint32_t)number);
}

/* Chunks that nobody remembers need no terms beyond those that the line keeps. */
static int is_enough(const Cutter *self, size_t size)
{
    return size > MEMO_BYTES && self->said.count >= self->full;
}

static int64_t number_of_stem(Cutter *self, const char *word, size_t size)
{
    PyObject *text = PyUnicode_FromStringAndSize(word, (Py_ssize_t)size);
    PyObject *stem = text ? PyObject_CallFunctionObjArgs(self->stem, text, NULL) : NULL;
    int64_t number = stem ? number_of_text(&self->terms, stem) : -1;
    Py_XDECREF(text);
    Py_XDECREF(stem);
    return number;
}

static int are_digits(const char *word, size_t size)
{
    for (size_t place = 0; place < size; place++)
        if (!is_digit(word[place]))
            return 0;
    return 1;
}

/* A word of letters and digits, cut where terms are. */
static int say_word(Cutter *self, const char *word, size_t size)
{
    size = size < MAX_TERM ? size : MAX_TERM;
    return say(self, are_digits(word, size) ? number_of_bytes(&self->terms, word, size)
                                            : number_of_stem(self, word, size));
}

static int join(Cutter *self, const char *whole, size_t size)
{
    int64_t number = number_of_stem(self, whole, size);
    return number < 0 ? -1 : push_number(&self->joined, (uint32_t)number);
}

/* A word of ASCII: two words and what they make where it is numbered, as utf8 and ipv6 are, else one. */
static int say_token(Cutter *self, const char *word, size_t size)
{
    size_t letters = 0;
    while (letters < size && is_letter(word[letters]))
        letters++;
    size_t digits = size - letters;
    if (letters < LEAST_LETTERS || letters > MOST_LETTERS || digits < LEAST_DIGITS || digits > MOST_DIGITS
        || !are_digits(word + letters, digits))
        return say_word(self, word, size);
    if (say_word(self, word, letters) || say_word(self, word + letters, digits))
        return -1;
    return join(self, word, size);
}

static int is_alphanumeric(char c) { return is_letter(c) || is_digit(c); }

static size_t end_of_letters(const char *chunk, size_t size, size_t place)
{
    while (place < size && is_alphanumeric(chunk[place]))
        place++;
    return place;
}

/* Where the word ends that begins here; an English ending after an apostrophe is part of it. */
static size_t end_of_token(const char *chunk, size_t size, size_t place)
{
    static const char *const endings[] = {"s", "t", "d", "m", "re", "ve", "ll"};
    size_t end = end_of_letters(chunk, size, place);
    if (end + 1 >= size || chunk[end] != '\'')
        return end;
    size_t length = end_of_letters(chunk, size, end + 1) - end - 1;
    for (size_t each = 0; each < sizeof endings / sizeof *endings; each++)
        if (strlen(endings[each]) == length && !memcmp(chunk + end + 1, endings[each], length))
            return end + 1 + length;
    return end;
}

/* Words with one joiner between each two. */
typedef struct {
    char whole[MAX_JOINED];
    size_t size;
    int parts;
} Joined;

static void add_part(Joined *joined, const char *word, size_t size)
{
    size = size < MAX_TERM ? size : MAX_TERM;
    if (joined->size + size <= MAX_JOINED)
        memcpy(joined->whole + joined->size, word, size);
    joined->size += size;
    joined->parts++;
}

/* Say what the words make together, where they make anything. */
static int end_joined(Cutter *self, Joined *joined)
{
    int makes = joined->parts > 1 && joined->parts <= MAX_PARTS && joined->size <= MAX_JOINED
                && !are_digits(joined->whole, joined->size);
    int failed = makes && join(self, joined->whole, joined->size);
    *joined = (Joined){.parts = 0};
    return failed;
}

/* Whether there may be one of the names that keep their signs: C++, F#, .NET. */
static int may_be_signed(const char *chunk, size_t size)
{
    for (size_t place = 0; place < size; place++) {
        if (chunk[place] == '+' || chunk[place] == '#')
            return 1;
        if (size - place >= 4 && !memcmp(chunk + place, ".net", 4) && !(place && is_alphanumeric(chunk[place - 1])))
            return 1;
    }
    return 0;
}

static enum Outcome cut_ascii(Cutter *self, const char *chunk, size_t size)
{
    if (may_be_signed(chunk, size))
        return NOT_OURS;
    Joined joined = {.parts = 0};
    for (size_t place = 0, last = 0; place < size && !is_enough(self, size);) {
        if (!is_alphanumeric(chunk[place])) {
            place++;
            continue;
        }
        size_t end = end_of_token(chunk, size, place);
        int goes_on = joined.parts && place == last + 1 && self->letters[(unsigned char)chunk[last]] == JOINER;
        if ((!goes_on && end_joined(self, &joined)) || say_token(self, chunk + place, end - place))
            return FAILED;
        add_part(&joined, chunk + place, end - place);
        place = last = end;
    }
    return end_joined(self, &joined) ? FAILED : IS_CUT;
}

/* Whether the table knows all letters, some are of runs, and none of those follows a joiner. */
static int are_runs(const Cutter *self, const char *chunk, size_t size)
{
    int has_run = 0;
    uint16_t before = REST;
    for (size_t place = 0; place < size;) {
        uint16_t letter = next_letter(self, chunk, size, &place);
        if (letter == ASK || (letter >= PLAIN_FROM && before == JOINER))
            return 0;
        has_run |= letter >= PLAIN_FROM;
        before = letter;
    }
    return has_run;
}

static size_t write_letter(char *at, uint16_t letter) /* of three bytes: all of runs are */
{
    at[0] = (char)(0xE0 | letter >> 12);
    at[1] = (char)(0x80 | (letter >> 6 & 0x3F));
    at[2] = (char)(0x80 | (letter & 0x3F));
    return 3;
}

/* The bigrams of the run at a place, which moves behind it; a letter alone is a term itself. */
static int say_run(Cutter *self, const char *chunk, size_t size, size_t *place)
{
    char pair[6];
    size_t bigrams = 0;
    write_letter(pair, next_letter(self, chunk, size, place));
    for (size_t next = *place; next < size && !is_enough(self, size); *place = next) {
        uint16_t letter = next_letter(self, chunk, size, &next);
        if (letter < PLAIN_FROM)
            break;
        write_letter(pair + 3, letter);
        if (say(self, number_of_bytes(&self->terms, pair, 6)))
            return -1;
        memmove(pair, pair + 3, 3);
        bigrams++;
    }
    return bigrams ? 0 : say(self, number_of_bytes(&self->terms, pair, 3));
}

static enum Outcome cut_runs(Cutter *self, const char *chunk, size_t size)
{
    for (size_t place = 0; place < size && !is_enough(self, size);) {
        size_t end = place;
        for (size_t next = place; next < size && next_letter(self, chunk, size, &next) < PLAIN_FROM;)
            end = next;
        if (end > place ? cut_chunk(self, chunk + place, end - place) : say_run(self, chunk, size, &end))
            return FAILED;
        place = end;
    }
    return IS_CUT;
}

static int say_all(Cutter *self, Numbers *numbers, PyObject *found, size_t size)
{
    Py_ssize_t count = found ? PyTuple_Size(found) : -1;
    for (Py_ssize_t place = 0; place < count && !is_enough(self, size); place++) {
        PyObject *text = PyTuple_GetItem(found, place);
        int64_t number = text ? number_of_text(&self->terms, text) : -1;
        if (number < 0 || push_number(numbers, (uint32_t)number))
            return -1;
    }
    return count < 0 ? -1 : 0;
}

static enum Outcome ask_python(Cutter *self, PyObject *known, const char *chunk, size_t size)
{
    PyObject *found = PyObject_CallFunction(known, "y#i", chunk, (Py_ssize_t)size, self->stem_class);
    if (!found)
        return FAILED;
    int failed = say_all(self, &self->said, PyTuple_GetItem(found, 0), size)
                 || say_all(self, &self->joined, PyTuple_GetItem(found, 1), size);
    Py_DECREF(found);
    return failed ? FAILED : IS_CUT;
}

/* Whether a chunk is made of words with signs between that join none. */
static int are_words(const Cutter *self, const char *chunk, size_t size)
{
    for (size_t place = 0; place < size;) {
        uint16_t letter = next_letter(self, chunk, size, &place);
        if (letter != WORD && letter != GAP)
            return 0;
    }
    return 1;
}

static size_t end_of_word(const Cutter *self, const char *chunk, size_t size, size_t place)
{
    for (size_t next = place; next < size && next_letter(self, chunk, size, &next) == WORD;)
        place = next;
    return place;
}

static enum Outcome cut_words(Cutter *self, const char *chunk, size_t size)
{
    for (size_t place = 0; place < size && !is_enough(self, size);) {
        size_t end = end_of_word(self, chunk, size, place);
        if (end == size && !place)
            return ask_python(self, self->word, chunk, size);
        if (end == place)
            next_letter(self, chunk, size, &end); /* a sign */
        else if (cut_chunk(self, chunk + place, end - place))
            return FAILED;
        place = end;
    }
    return IS_CUT;
}

static int is_ascii(const char *chunk, size_t size)
{
    for (size_t place = 0; place < size; place++)
        if (chunk[place] & 0x80)
            return 0;
    return 1;
}

static int say_known(Cutter *self, const Chunk *known)
{
    uint32_t place = known->first;
    for (int count = known->terms; count; count--)
        if (push_number(&self->said, self->memo.numbers.at[place++]))
            return -1;
    for (int count = known->joined; count; count--)
        if (push_number(&self->joined, self->memo.numbers.at[place++]))
            return -1;
    return 0;
}

static int cut_unknown(Cutter *self, const char *chunk, size_t size)
{
    enum Outcome outcome = NOT_OURS; /* then nothing was said */
    if (is_ascii(chunk, size))
        outcome = cut_ascii(self, chunk, size);
    else if (are_runs(self, chunk, size))
        outcome = cut_runs(self, chunk, size);
    else if (are_words(self, chunk, size))
        outcome = cut_words(self, chunk, size);
    if (outcome == NOT_OURS)
        outcome = ask_python(self, self->known, chunk, size);
    return outcome == FAILED ? -1 : 0;
}

/* Put the terms of a chunk behind those of the document, and its joined forms behind those of the line. */
int cut_chunk(Cutter *self, const char *chunk, size_t size)
{
    if (size > MEMO_BYTES)
        return cut_unknown(self, chunk, size);
    uint32_t hash = hash_of_chunk(&self->memo, self->stem_class, chunk, size);
    const Chunk *known = find_chunk(&self->memo, hash, self->stem_class, chunk, size);
    if (known)
        return say_known(self, known);
    size_t said = self->said.count, joined = self->joined.count;
    if (cut_unknown(self, chunk, size))
        return -1;
    size_t terms = self->said.count - said, forms = self->joined.count - joined;
    if (terms + forms > MEMO_TERMS || self->memo.count >= self->most_chunks)
        return 0;
    Chunk found = {0, 0, (uint8_t)size, (uint8_t)self->stem_class, (uint8_t)terms, (uint8_t)forms};
    const uint32_t *words = terms ? self->said.at + said : NULL, *whole = forms ? self->joined.at + joined : NULL;
    return remember_chunk(&self->memo, hash, found, chunk, words, whole);
}
