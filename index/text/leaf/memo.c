/* The terms of the chunks that were cut: most come again. */
#include "leaf.h"

uint32_t hash_of_chunk(const Memo *memo, int stem_class, const char *chunk, size_t size)
{
    HashKey key = memo->key;
    key.first ^= (uint64_t)stem_class;
    return hash_of(&key, chunk, size);
}

const Chunk *find_chunk(const Memo *memo, uint32_t hash, int stem_class, const char *chunk, size_t size)
{
    const Table *table = &memo->table;
    for (uint32_t place = hash & table->mask; table->at[place].number; place = (place + 1) & table->mask) {
        if (table->at[place].hash != hash)
            continue;
        const Chunk *known = &memo->at[table->at[place].number - 1];
        if (known->size == size && known->stem_class == stem_class
            && !memcmp(memo->bytes + known->start, chunk, size))
            return known;
    }
    return NULL;
}

static int remember_bytes(Memo *memo, const char *bytes, size_t size)
{
    while (memo->byte_room - memo->byte_count < size)
        if (make_room((void **)&memo->bytes, memo->byte_room, &memo->byte_room, 1))
            return -1;
    memcpy(memo->bytes + memo->byte_count, bytes, size);
    memo->byte_count += (uint32_t)size;
    return 0;
}

/* `chunk` knows its size, its stem class, and how many terms and joined forms it has. */
int remember_chunk(Memo *memo, uint32_t hash, Chunk chunk, const char *bytes, const uint32_t *terms,
                   const uint32_t *joined)
{
    chunk.start = memo->byte_count;
    chunk.first = (uint32_t)memo->numbers.count;
    if (make_room((void **)&memo->at, memo->count, &memo->room, sizeof *memo->at)
        || remember_bytes(memo, bytes, chunk.size))
        return -1;
    for (int number = 0; number < chunk.terms; number++)
        if (push_number(&memo->numbers, terms[number]))
            return -1;
    for (int number = 0; number < chunk.joined; number++)
        if (push_number(&memo->numbers, joined[number]))
            return -1;
    if (fill_slot(&memo->table, hash, memo->count))
        return -1;
    memo->at[memo->count++] = chunk;
    return 0;
}

void forget_chunks(Memo *memo)
{
    memo->count = memo->byte_count = 0;
    memo->numbers.count = 0;
    empty_table(&memo->table);
}
