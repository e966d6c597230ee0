/* Lists of numbers, and tables of places by hashes: they double when they are full. */
#include "leaf.h"

enum { FIRST_ROOM = 1 << 10 };

int make_room(void **items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return 0;
    uint32_t wanted = *room ? *room * 2 : FIRST_ROOM;
    void *found = *room <= UINT32_MAX / 4 ? realloc(*items, wanted * size) : NULL;
    if (!found) {
        PyErr_NoMemory();
        return -1;
    }
    *items = found;
    *room = wanted;
    return 0;
}

int push_number(Numbers *numbers, uint32_t number)
{
    if (numbers->count == numbers->room) {
        size_t room = numbers->room ? numbers->room * 2 : FIRST_ROOM;
        uint32_t *found = realloc(numbers->at, room * sizeof *found);
        if (!found) {
            PyErr_NoMemory();
            return -1;
        }
        numbers->at = found;
        numbers->room = room;
    }
    numbers->at[numbers->count++] = number;
    return 0;
}

static void put(Slot *slots, uint32_t mask, Slot slot)
{
    uint32_t place = slot.hash & mask;
    while (slots[place].number)
        place = (place + 1) & mask;
    slots[place] = slot;
}

static int resize(Table *table, uint32_t slots)
{
    Slot *found = calloc(slots, sizeof *found);
    if (!found) {
        PyErr_NoMemory();
        return -1;
    }
    for (uint32_t place = 0; table->at && place <= table->mask; place++)
        if (table->at[place].number)
            put(found, slots - 1, table->at[place]);
    free(table->at);
    table->at = found;
    table->mask = slots - 1;
    return 0;
}

int make_table(Table *table)
{
    return resize(table, FIRST_ROOM);
}

/* `number`: of an item, from 0. */
int fill_slot(Table *table, uint32_t hash, uint32_t number)
{
    if (table->count >= table->mask / 2 && resize(table, (table->mask + 1) * 2))
        return -1;
    put(table->at, table->mask, (Slot){hash, number + 1});
    table->count++;
    return 0;
}

void empty_table(Table *table)
{
    memset(table->at, 0, ((size_t)table->mask + 1) * sizeof *table->at);
    table->count = 0;
}
