/* SipHash-1-3 (Aumasson and Bernstein 2012) by a secret of this process, since strangers choose what is hashed; and the
   CRC-32 of zlib. */
#include "leaf.h"

/* The key comes from the hashes of Python's own, whose secret it has from the system. */
int make_key(HashKey *key)
{
    uint64_t *parts[] = {&key->first, &key->second};
    for (int part = 0; part < 2; part++) {
        PyObject *name = PyUnicode_FromFormat("text leaf %d", part);
        Py_hash_t found = name ? PyObject_Hash(name) : -1;
        Py_XDECREF(name);
        if (found == -1)
            return -1;
        *parts[part] = (uint64_t)found;
    }
    return 0;
}

#define ROTATED(x, by) ((x) << (by) | (x) >> (64 - (by)))

static inline void mix(uint64_t v[4])
{
    v[0] += v[1]; v[1] = ROTATED(v[1], 13) ^ v[0]; v[0] = ROTATED(v[0], 32);
    v[2] += v[3]; v[3] = ROTATED(v[3], 16) ^ v[2];
    v[0] += v[3]; v[3] = ROTATED(v[3], 21) ^ v[0];
    v[2] += v[1]; v[1] = ROTATED(v[1], 17) ^ v[2]; v[2] = ROTATED(v[2], 32);
}

uint32_t hash_of(const HashKey *key, const char *bytes, size_t size)
{
    uint64_t v[4] = {key->first ^ 0x736f6d6570736575u, key->second ^ 0x646f72616e646f6du,
                     key->first ^ 0x6c7967656e657261u, key->second ^ 0x7465646279746573u};
    uint64_t word = 0;
    size_t left = size;
    for (; left >= 8; left -= 8, bytes += 8) {
        memcpy(&word, bytes, 8);
        v[3] ^= word;
        mix(v);
        v[0] ^= word;
    }
    word = 0;
    memcpy(&word, bytes, left);
    word ^= (uint64_t)size << 56;
    v[3] ^= word;
    mix(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    mix(v);
    mix(v);
    mix(v);
    uint64_t found = v[0] ^ v[1] ^ v[2] ^ v[3];
    return (uint32_t)(found ^ found >> 32);
}

static uint32_t crc_step(uint32_t value)
{
    for (int bit = 0; bit < 8; bit++)
        value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
    return value;
}

uint32_t crc32_of(const char *bytes, size_t size)
{
    static uint32_t table[256];
    static int is_made;
    for (uint32_t byte = 0; !is_made && byte < 256; byte++)
        table[byte] = crc_step(byte);
    is_made = 1;
    uint32_t found = 0xFFFFFFFFu;
    for (size_t place = 0; place < size; place++)
        found = found >> 8 ^ table[(found ^ (unsigned char)bytes[place]) & 0xFF];
    return ~found;
}
