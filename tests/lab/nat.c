#include "nat.h"

#include <stdlib.h>
#include <string.h>

enum { TCP = 6, UDP = 17, ICMP6 = 58, BUCKETS = 1 << 14 };
static const double TCP_IDLE_S = 3600;

/* One table for three kinds of rows, told apart by the first byte of their keys:
   O inner address and port (and the destination, where symmetric) -> public port
   I public port -> inner address and port
   P public port (IPv6: inner address and port) and who may answer to it */
struct key {
    uint8_t kind, nat, protocol, near[18], far[18];
};
struct row {
    struct key key;
    uint8_t value[6]; /* address, port */
    double used_at;
    struct row *next;
};
static struct row *table[BUCKETS];

static unsigned bucket_of(const struct key *key) {
    const uint8_t *bytes = (const uint8_t *)key;
    unsigned hash = 2166136261u;
    for (unsigned i = 0; i < sizeof *key; i++) hash = (hash ^ bytes[i]) * 16777619u;
    return hash % BUCKETS;
}

static double idle_s(const struct nat *nat, uint8_t protocol) { return protocol == TCP ? TCP_IDLE_S : nat->udp_idle_s; }

/* The row of a key if it is still in use; rows out of use are freed on the way. */
static struct row *find(const struct nat *nat, const struct key *key, double now) {
    for (struct row **at = &table[bucket_of(key)]; *at;) {
        struct row *row = *at;
        if (now - row->used_at > idle_s(nat, row->key.protocol) && row->key.nat == key->nat) {
            *at = row->next;
            free(row);
        } else if (!memcmp(&row->key, key, sizeof *key)) {
            return row;
        } else {
            at = &row->next;
        }
    }
    return NULL;
}

static struct row *keep(const struct nat *nat, const struct key *key, double now) {
    struct row *row = find(nat, key, now);
    if (!row) {
        unsigned bucket = bucket_of(key);
        row = calloc(1, sizeof *row);
        row->key = *key;
        row->next = table[bucket];
        table[bucket] = row;
    }
    row->used_at = now;
    return row;
}

void nat_forget(int id) {
    for (int i = 0; i < BUCKETS; i++)
        for (struct row **at = &table[i]; *at;) {
            struct row *row = *at;
            if (row->key.nat == id) {
                *at = row->next;
                free(row);
            } else {
                at = &row->next;
            }
        }
}

/* RFC 1624: a checksum after `count` bytes that it covers became others. */
static void mend_checksum(uint8_t *sum, const uint8_t *old, const uint8_t *new, int count) {
    uint32_t total = (uint16_t)~(sum[0] << 8 | sum[1]);
    for (int i = 0; i < count; i += 2) total += (uint16_t)~(old[i] << 8 | old[i + 1]) + (new[i] << 8 | new[i + 1]);
    while (total >> 16) total = (total & 0xffff) + (total >> 16);
    sum[0] = (uint8_t)(~total >> 8), sum[1] = (uint8_t)~total;
}

/* Give a packet another address and port, at these places, and right checksums. */
static void rewrite(uint8_t *packet, uint8_t *address, uint8_t *port, const uint8_t to[6]) {
    uint8_t *body = packet + (packet[0] & 15) * 4, *sum = body + (packet[9] == TCP ? 16 : 6);
    if (packet[9] == TCP || sum[0] || sum[1]) {
        mend_checksum(sum, address, to, 4);
        mend_checksum(sum, port, to + 4, 2);
    }
    mend_checksum(packet + 10, address, to, 4);
    memcpy(address, to, 4), memcpy(port, to + 4, 2);
}

/* The ports of a whole IPv4 packet with TCP or UDP in it, else NULL: fragments have none. */
static uint8_t *ports_of(uint8_t *packet, int size) {
    uint8_t *body = packet + (packet[0] & 15) * 4;
    int is_whole = !(packet[6] & 0x3f) && !packet[7];
    int is_known = (packet[9] == TCP && body + 20 <= packet + size) || (packet[9] == UDP && body + 8 <= packet + size);
    return is_whole && is_known ? body : NULL;
}

/* Who may answer, as far as this router asks. */
static void set_far(struct key *key, enum filtering filtering, const uint8_t *address, int size, const uint8_t *port) {
    if (filtering != BY_NOTHING) memcpy(key->far, address, size);
    if (filtering == BY_PORT) memcpy(key->far + 16, port, 2);
}

static int firewall(int id, const struct nat *nat, uint8_t *packet, int size, double now, int is_outward) {
    uint8_t protocol = packet[6], *near = packet + (is_outward ? 8 : 24), *far = packet + (is_outward ? 24 : 8);
    uint8_t *near_port = packet + (is_outward ? 40 : 42), *far_port = packet + (is_outward ? 42 : 40);
    if (size < 44) return 0;
    if (protocol == ICMP6) return is_outward || packet[40] < 5; /* errors come in, questions do not */
    if (protocol != TCP && protocol != UDP) return 0;
    struct key key = {.kind = 'P', .nat = (uint8_t)id, .protocol = protocol};
    memcpy(key.near, near, 16), memcpy(key.near + 16, near_port, 2);
    set_far(&key, nat->filtering, far, 16, far_port);
    return is_outward ? keep(nat, &key, now) != NULL : find(nat, &key, now) != NULL;
}

/* A public port for this inner one: its own number where that is free, and for symmetric ones any. */
static int choose_port(int id, const struct nat *nat, uint8_t protocol, const uint8_t *wanted, uint8_t port[2], double now) {
    for (int tries = 0; tries < 1000; tries++) {
        int other = 1024 + (int)(drand48() * 64000);
        int number = tries || nat->is_symmetric ? other : wanted[0] << 8 | wanted[1];
        struct key key = {.kind = 'I', .nat = (uint8_t)id, .protocol = protocol};
        key.near[0] = port[0] = (uint8_t)(number >> 8), key.near[1] = port[1] = (uint8_t)number;
        if (!find(nat, &key, now)) return 1;
    }
    return 0;
}

int nat_outward(int id, const struct nat *nat, uint8_t *packet, int size, double now) {
    if (packet[0] >> 4 == 6) return firewall(id, nat, packet, size, now, 1);
    uint8_t *ports = ports_of(packet, size), protocol = packet[9], public[6];
    if (!ports) return 0;
    struct key out = {.kind = 'O', .nat = (uint8_t)id, .protocol = protocol};
    memcpy(out.near, packet + 12, 4), memcpy(out.near + 16, ports, 2);
    if (nat->is_symmetric) memcpy(out.far, packet + 16, 4), memcpy(out.far + 16, ports + 2, 2);
    struct row *known = find(nat, &out, now);
    memcpy(public, nat->address, 4);
    if (known) memcpy(public + 4, known->value + 4, 2);
    else if (!choose_port(id, nat, protocol, ports, public + 4, now)) return 0;
    memcpy(keep(nat, &out, now)->value, public, 6);
    struct key in = {.kind = 'I', .nat = (uint8_t)id, .protocol = protocol};
    memcpy(in.near, public + 4, 2);
    uint8_t *inner = keep(nat, &in, now)->value;
    memcpy(inner, packet + 12, 4), memcpy(inner + 4, ports, 2);
    in.kind = 'P';
    set_far(&in, nat->filtering, packet + 16, 4, ports + 2);
    keep(nat, &in, now);
    rewrite(packet, packet + 12, ports, public);
    return 1;
}

int nat_inward(int id, const struct nat *nat, uint8_t *packet, int size, double now, uint8_t inner[4]) {
    if (packet[0] >> 4 == 6) return firewall(id, nat, packet, size, now, 0);
    uint8_t *ports = ports_of(packet, size);
    if (!ports) return 0;
    struct key key = {.kind = 'I', .nat = (uint8_t)id, .protocol = packet[9]};
    memcpy(key.near, ports + 2, 2);
    struct row *open = find(nat, &key, now);
    key.kind = 'P';
    set_far(&key, nat->filtering, packet + 12, 4, ports);
    if (!open || !find(nat, &key, now)) return 0;
    memcpy(inner, open->value, 4);
    rewrite(packet, packet + 16, ports + 2, open->value);
    return 1;
}
