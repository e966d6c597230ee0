/* Main text told from boilerplate: see boilerplate.py, whose names and numbers these are. */
#include "leaf.h"

static const double LINKED = 1.0 / 3, MENU = 0.555556;
enum { RUN_WORDS = 40, FEW_BLOCKS = 3, SENTENCE_WORDS = 10, FEWEST_CHARS = 150 };
enum { OPEN = 1, CLOSE = 2, LINK = 3 };            /* marks; a NUL ends a line */
enum Kind { PLAIN, GAP, END, MARK, WIDE };         /* of a byte */
enum Part { MAIN, REST, INNER, ASIDE, ALL, NONE }; /* of the lines */

typedef struct {
    size_t start, end, chars, words;
    double linked, unlinked;
    unsigned char is_aside, is_menu, is_main, is_settled;
} Block;

typedef struct {
    const uint16_t *letters;
    unsigned char kinds[256];
    char *lines; /* without marks, each with a line feed behind it */
    size_t size;
    Block *blocks;
    size_t count, room;
    size_t depth; /* of elements for boilerplate */
    int in_link;
} Reader;

/* A line while it is read. */
typedef struct {
    size_t start, spaces, continued; /* bytes that continue a character */
    size_t letters;                  /* of scripts without spaces */
    size_t piece, piece_continued;   /* where the piece between two marks of links begins */
    size_t linked_chars, marks, opens, closes;
    int has_gap;
} Line;

static void fill_kinds(unsigned char kinds[256])
{
    memset(kinds, PLAIN, 128);
    memset(kinds + 128, WIDE, 128);
    for (const char *gap = " \n\t\r\f\v\x1c\x1d\x1e\x1f"; *gap; gap++)
        kinds[(unsigned char)*gap] = GAP;
    kinds[0] = END;
    kinds[OPEN] = kinds[CLOSE] = kinds[LINK] = MARK;
}

static inline void close_gap(Reader *self, Line *line)
{
    if (line->has_gap) {
        self->lines[self->size++] = ' ';
        line->spaces++;
        line->has_gap = 0;
    }
}

static void end_piece(Reader *self, Line *line)
{
    size_t begin = line->piece;
    begin += begin < self->size && self->lines[begin] == ' ';
    if (self->in_link)
        line->linked_chars += self->size - begin - (line->continued - line->piece_continued);
    line->piece = self->size;
    line->piece_continued = line->continued;
}

static void take_mark(Reader *self, Line *line, unsigned char mark)
{
    line->opens += mark == OPEN;
    line->closes += mark == CLOSE;
    if (mark == LINK) {
        end_piece(self, line);
        self->in_link = !self->in_link;
        line->marks++;
    }
}

static const unsigned char *take_wide(Reader *self, Line *line, const unsigned char *at)
{
    int size;
    uint32_t point = point_at(at, &size);
    unsigned known = point < PLANE ? self->letters[point] : 0;
    if (known & SPACE) {
        line->has_gap = self->size > line->start;
        return at + size;
    }
    close_gap(self, line);
    line->letters += (known & UNSPACED) != 0;
    line->continued += (size_t)size - 1;
    for (int byte = 0; byte < size; byte++)
        self->lines[self->size++] = (char)at[byte];
    return at + size;
}

/* Copy a line with single spaces and without marks; return where it ends. */
static const unsigned char *take_bytes(Reader *self, Line *line, const unsigned char *at)
{
    for (;;) {
        switch (self->kinds[*at]) {
        case PLAIN:
            close_gap(self, line);
            do
                self->lines[self->size++] = (char)*at++;
            while (self->kinds[*at] == PLAIN);
            break;
        case GAP:
            line->has_gap = self->size > line->start;
            at++;
            break;
        case MARK:
            take_mark(self, line, *at++);
            break;
        case WIDE:
            at = take_wide(self, line, at);
            break;
        default:
            return at;
        }
    }
}

static int add_block(Reader *self, Block block)
{
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 256;
        Block *blocks = realloc(self->blocks, room * sizeof *blocks);
        if (!blocks)
            return -1;
        self->blocks = blocks;
        self->room = room;
    }
    block.unlinked = (double)block.words * (1 - block.linked);
    block.is_menu = block.is_aside || (block.linked > LINKED && block.unlinked < SENTENCE_WORDS);
    self->blocks[self->count++] = block;
    return 0;
}

/* Make a block of a line, where anything of it is left. */
static int end_line(Reader *self, Line *line)
{
    if (line->marks)
        end_piece(self, line);
    size_t depth = self->depth + line->opens;
    self->depth = depth > line->closes ? depth - line->closes : 0;
    if (self->size == line->start)
        return 0;
    size_t chars = self->size - line->start - line->continued;
    double linked = line->marks ? (double)line->linked_chars / (double)chars : self->in_link ? 1.0 : 0.0;
    Block block = {
        .start = line->start, .end = self->size, .chars = chars, .words = line->spaces + 1 + line->letters / 2,
        .linked = linked < 1.0 ? linked : 1.0, .is_aside = self->depth > 0,
    };
    self->lines[self->size++] = '\n';
    return add_block(self, block);
}

static int take_lines(Reader *self, const unsigned char *at, const unsigned char *end)
{
    for (;; at++) {
        Line line = {.start = self->size, .piece = self->size};
        at = take_bytes(self, &line, at);
        if (end_line(self, &line))
            return -1;
        if (at == end)
            return 0;
    }
}

/* Make runs of undecided blocks main text: see _fill. */
static void fill(Block *blocks, size_t count, size_t most)
{
    for (size_t start = 0, end; start < count; start = end) {
        end = start + 1;
        if (blocks[start].is_settled)
            continue;
        double unlinked = blocks[start].unlinked;
        size_t words = blocks[start].words;
        for (; end < count && !blocks[end].is_settled; end++) {
            unlinked += blocks[end].unlinked;
            words += blocks[end].words;
        }
        int is_short = end - start <= most;
        int is_between = is_short && start && end < count && blocks[start - 1].is_main && blocks[end].is_main;
        double half = (double)words / 2;
        if (is_between || unlinked > (half > RUN_WORDS ? half : RUN_WORDS))
            for (size_t at = start; at < end; at++)
                blocks[at].is_main = 1;
    }
}

static int is_text(const Block *block, const Block *before, const Block *after)
{
    size_t words = block->words, next = after ? after->words : 0;
    if (block->is_menu)
        return 0;
    if (before && before->linked > MENU)
        return words > 40 || next > 17;
    return words > 16 || next > 15 || (before && before->words > 4);
}

/* Settle menus: links one after the other, more than interrupt a text. */
static void settle_menus(Block *blocks, size_t count)
{
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start; end < count && blocks[end].is_menu && !blocks[end].is_main; end++) {}
        for (size_t at = start; at < end && end - start > FEW_BLOCKS; at++)
            blocks[at].is_settled = 1;
        end += end == start;
    }
}

static void judge(Block *blocks, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        Block *block = blocks + at;
        block->is_main = (unsigned char)is_text(block, at ? block - 1 : NULL, at + 1 < count ? block + 1 : NULL);
        block->is_settled = block->is_main || block->is_menu;
    }
    fill(blocks, count, count);
    for (size_t at = 0; at < count; at++)
        blocks[at].is_settled = blocks[at].is_main || blocks[at].is_aside;
    settle_menus(blocks, count);
    fill(blocks, count, FEW_BLOCKS);
}

static int is_of(const Block *block, enum Part part)
{
    switch (part) {
    case MAIN: return block->is_main;
    case REST: return !block->is_main;
    case INNER: return !block->is_aside;
    case ASIDE: return block->is_aside;
    default: return part == ALL;
    }
}

/* The characters of the lines of a part, with the line feeds between them. */
static size_t length_of(const Reader *self, enum Part part)
{
    size_t length = 0;
    for (size_t at = 0; at < self->count; at++)
        length += is_of(self->blocks + at, part) ? self->blocks[at].chars + 1 : 0;
    return length ? length - 1 : 0;
}

static int are_same(const Reader *self, enum Part one, enum Part other)
{
    for (size_t at = 0; at < self->count; at++)
        if (is_of(self->blocks + at, one) != is_of(self->blocks + at, other))
            return 0;
    return 1;
}

static size_t cut_at(const char *text, size_t size, size_t most)
{
    size_t at = 0;
    for (size_t chars = 0; at < size; at++)
        if (((unsigned char)text[at] & 0xC0) != 0x80 && chars++ == most)
            break;
    return at;
}

/* The first characters of the lines of a part, with line feeds between them. */
static PyObject *text_of(const Reader *self, enum Part part, size_t most, char *space)
{
    size_t size = 0;
    for (size_t at = 0; at < self->count && size <= 4 * most; at++) { /* no character has more bytes */
        const Block *block = self->blocks + at;
        if (!is_of(block, part))
            continue;
        memcpy(space + size, self->lines + block->start, block->end - block->start + 1);
        size += block->end - block->start + 1;
    }
    size -= size > 0;
    if (size > most)
        size = cut_at(space, size, most);
    return PyUnicode_DecodeUTF8(space, (Py_ssize_t)size, "surrogatepass");
}

static PyObject *texts_of(const Reader *self, size_t most, char *space)
{
    enum Part main = MAIN, rest = REST, inner = INNER, asides = ASIDE;
    if (4 * length_of(self, inner) < length_of(self, asides))
        inner = ALL, asides = NONE;
    size_t length = length_of(self, main);
    if (4 * length < length_of(self, inner) && length < FEWEST_CHARS) {
        main = inner, rest = asides;
        length = length_of(self, main);
    }
    PyObject *texts[3] = {text_of(self, main, most, space), NULL, NULL};
    texts[1] = texts[0] ? text_of(self, rest, most > length ? most - length : 0, space) : NULL;
    if (texts[1])
        texts[2] = are_same(self, main, inner) ? Py_NewRef(texts[0]) : text_of(self, inner, most, space);
    if (texts[2])
        return Py_BuildValue("(NNN)", texts[0], texts[1], texts[2]);
    Py_XDECREF(texts[0]);
    Py_XDECREF(texts[1]);
    return NULL;
}

/* read_texts(marked, letters, most): UTF-8 in, see read_texts in boilerplate.py. */
PyObject *read_texts(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *marked, *table;
    Py_ssize_t most;
    if (!PyArg_ParseTuple(arguments, "SSn", &marked, &table, &most))
        return NULL;
    Reader reader = {.letters = letters_in(table)};
    if (!reader.letters)
        return NULL;
    if (most < 0 || most > PY_SSIZE_T_MAX / 4)
        return PyErr_Format(PyExc_ValueError, "a text of %zd characters", most);
    size_t size = (size_t)PyBytes_Size(marked);
    const unsigned char *bytes = (const unsigned char *)PyBytes_AsString(marked);
    char *space = malloc(size + 1);
    reader.lines = malloc(size + 1);
    fill_kinds(reader.kinds);
    PyObject *found = NULL;
    if (!reader.lines || !space || take_lines(&reader, bytes, bytes + size))
        PyErr_NoMemory();
    else {
        judge(reader.blocks, reader.count);
        found = texts_of(&reader, (size_t)most, space);
    }
    free(reader.lines);
    free(reader.blocks);
    free(space);
    return found;
}
