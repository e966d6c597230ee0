/* A switch in user space: it carries IP packets between the TUN devices of network namespaces, late, seldom or not at all.

   Its orders come as messages over the Unix socket that is its standard input, one order a message, each answered by
   "ok ..." or by what was wrong. It ends when the other side of that socket closes.

     seed N                                     of all chance
     port P                                     the TUN device that comes with the message
     route REALM ADDRESS LENGTH P               packets for a prefix go to port P; -P-1 names nat P
     unroute REALM ADDRESS                      they no longer do
     nat N ADDRESS SYMMETRIC FILTERING IDLE_S   a router with its public address; what was open is closed
     inside P N                                 port P is behind nat N; its realm is N + 1, the internet's is 0
     lan P L                                    multicast goes to the other ports with the same L; 0: nowhere
     host P UP UP_BYTES DOWN_BYTES QUEUE_S      is its line up, how fast is it (0: no limit), how long a queue it has
     link P Q DELAY_S JITTER_S LOSS REORDER MTU TELLS CUT4 CUT6    from P to Q alone
     count                                      packets and bytes carried, packets dropped                        */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nat.h"

enum { PORTS = 64, ROUTES = 512, LARGEST = 4096, BATCH = 64, KEPT = 256, NOBODY = -1000 };

struct link {
    double delay_s, jitter_s, loss, reorder, last_at;
    int mtu, tells, is_cut4, is_cut6;
};
struct port {
    int tun, is_up, lan, behind; /* behind: a nat, or -1 */
    double up_bytes, down_bytes, queue_s, up_free_at, down_free_at;
};
struct route {
    int realm, family, length, to;
    uint8_t address[16];
};
struct waiting {
    double at;
    uint64_t turn;
    int to, size;
    uint8_t *packet;
};

static struct port ports[PORTS];
static struct link links[PORTS][PORTS];
static struct nat nats[PORTS];
static struct route routes[ROUTES];
static int port_count, route_count;
static struct waiting *heap;
static int heap_count, heap_room;
static uint64_t turn;
static long carried, carried_bytes, dropped;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* ---- packets under way, soonest first ---- */

static int is_before(const struct waiting *a, const struct waiting *b) {
    return a->at < b->at || (a->at == b->at && a->turn < b->turn);
}

static void swap(int a, int b) {
    struct waiting other = heap[a];
    heap[a] = heap[b], heap[b] = other;
}

static void push(struct waiting item) {
    if (heap_count == heap_room) heap = realloc(heap, (heap_room = heap_room * 2 + 1024) * sizeof *heap);
    int at = heap_count++;
    for (heap[at] = item; at && is_before(&heap[at], &heap[(at - 1) / 2]); at = (at - 1) / 2) swap(at, (at - 1) / 2);
}

static struct waiting pop(void) {
    struct waiting first = heap[0];
    heap[0] = heap[--heap_count];
    for (int at = 0;;) {
        int least = at;
        for (int child = at * 2 + 1; child <= at * 2 + 2; child++)
            if (child < heap_count && is_before(&heap[child], &heap[least])) least = child;
        if (least == at) return first;
        swap(at, least), at = least;
    }
}

static void hand_over(int to, const uint8_t *packet, int size) {
    if (!ports[to].is_up || write(ports[to].tun, packet, size) < 0) dropped++;
    else carried++, carried_bytes += size;
}

/* ---- where a packet goes ---- */

static int route_of(int realm, int family, const uint8_t *address) {
    int best = NOBODY, longest = -1;
    for (int i = 0; i < route_count; i++) {
        const struct route *r = &routes[i];
        if (r->realm != realm || r->family != family || r->length <= longest) continue;
        int whole = r->length / 8, rest = r->length % 8;
        if (memcmp(address, r->address, whole)) continue;
        if (rest && (address[whole] ^ r->address[whole]) >> (8 - rest)) continue;
        best = r->to, longest = r->length;
    }
    return best;
}

/* The port that a packet is for, which routers on its way have rewritten; NOBODY where there is none. */
static int destination(int from, uint8_t *packet, int size, double now) {
    int family = packet[0] >> 4, behind = ports[from].behind;
    uint8_t *to = packet + (family == 6 ? 24 : 16), inner[4];
    if (behind >= 0) {
        int neighbour = route_of(behind + 1, family, to);
        if (neighbour != NOBODY) return neighbour;
        if (!nat_outward(behind, &nats[behind], packet, size, now)) return NOBODY;
    }
    int port = route_of(0, family, to);
    int nat = port < 0 ? -port - 1 : ports[port].behind;
    if (port == NOBODY || nat < 0) return port;
    if (nat == behind || !nat_inward(nat, &nats[nat], packet, size, now, inner)) return NOBODY;
    return family == 6 ? port : route_of(nat + 1, 4, inner);
}

/* ---- "packet too big" ---- */

static uint16_t checksum(const uint8_t *bytes, int size, uint32_t sum) {
    for (int i = 0; i < size; i += 2) sum += bytes[i] << 8 | (i + 1 < size ? bytes[i + 1] : 0);
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return htons((uint16_t)~sum);
}

static void tell_too_big(int from, const uint8_t *packet, int mtu) {
    uint8_t reply[48 + KEPT] = {0};
    uint16_t sum, narrow = htons((uint16_t)mtu);
    if (packet[0] >> 4 == 4) {
        int kept = (packet[0] & 15) * 4 + 8, size = 28 + kept;
        memcpy(reply, (uint8_t[]){0x45, 0, 0, (uint8_t)size, 0, 0, 0, 0, 64, 1}, 10);
        memcpy(reply + 12, packet + 16, 4), memcpy(reply + 16, packet + 12, 4);
        reply[20] = 3, reply[21] = 4, memcpy(reply + 26, &narrow, 2), memcpy(reply + 28, packet, kept);
        sum = checksum(reply + 20, size - 20, 0), memcpy(reply + 22, &sum, 2);
        sum = checksum(reply, 20, 0), memcpy(reply + 10, &sum, 2);
        hand_over(from, reply, size);
    } else {
        int body = 8 + KEPT;
        reply[0] = 0x60, reply[4] = (uint8_t)(body >> 8), reply[5] = (uint8_t)body, reply[6] = 58, reply[7] = 64;
        memcpy(reply + 8, packet + 24, 16), memcpy(reply + 24, packet + 8, 16);
        reply[40] = 2, memcpy(reply + 46, &narrow, 2), memcpy(reply + 48, packet, KEPT);
        sum = checksum(reply + 8, 32 + body, (uint32_t)body + 58), memcpy(reply + 42, &sum, 2);
        hand_over(from, reply, 40 + body);
    }
}

/* ---- how it gets there ---- */

/* When the last byte has passed a line of so many bytes a second, -1 where its queue is full. */
static double passed(double *free_at, double bytes, double queue_s, double at, int size) {
    if (bytes <= 0) return at;
    if (*free_at - at > queue_s) return -1;
    return *free_at = (*free_at > at ? *free_at : at) + size / bytes;
}

static void carry(int from, int to, const uint8_t *packet, const uint8_t *as_sent, int size, double now) {
    struct link *link = &links[from][to];
    struct port *near = &ports[from], *far = &ports[to];
    dropped++; /* until it is on its way */
    if (!far->is_up || (packet[0] >> 4 == 6 ? link->is_cut6 : link->is_cut4)) return;
    if (link->mtu && size > link->mtu) {
        if (link->tells) tell_too_big(from, as_sent, link->mtu);
        return;
    }
    double at = passed(&near->up_free_at, near->up_bytes, near->queue_s, now, size);
    if (at < 0 || (link->loss > 0 && drand48() < link->loss)) return;
    double sent_at = at;
    at += link->delay_s + (link->jitter_s > 0 ? drand48() * link->jitter_s : 0);
    if (link->reorder > 0 && drand48() < link->reorder) at += link->delay_s + link->jitter_s;
    else if (at < link->last_at) at = link->last_at;
    else link->last_at = at;
    at = passed(&far->down_free_at, far->down_bytes, far->queue_s, at, size);
    if (at < 0) return;
    dropped--;
    if (at <= sent_at && at <= now) {
        hand_over(to, packet, size);
        return;
    }
    uint8_t *copy = malloc(size);
    memcpy(copy, packet, size);
    push((struct waiting){at, turn++, to, size, copy});
}

static void receive(int from, uint8_t *packet, int size, double now) {
    static uint8_t as_sent[KEPT];
    int family = packet[0] >> 4;
    if (!ports[from].is_up || size < (family == 6 ? 40 : 20)) return;
    memcpy(as_sent, packet, size < KEPT ? size : KEPT);
    if (family == 6 ? packet[24] == 0xff : packet[16] >= 224) {
        for (int to = 0; to < port_count; to++)
            if (to != from && ports[to].lan && ports[to].lan == ports[from].lan) carry(from, to, packet, as_sent, size, now);
        return;
    }
    int to = destination(from, packet, size, now);
    if (to >= 0) carry(from, to, packet, as_sent, size, now);
    else dropped++;
}

/* ---- orders ---- */

static int is_address(const char *text, int *family, uint8_t address[16]) {
    *family = strchr(text, ':') ? 6 : 4;
    return inet_pton(*family == 6 ? AF_INET6 : AF_INET, text, address) == 1;
}

static void unroute(int realm, int family, const uint8_t *address) {
    for (int i = 0; i < route_count; i++) {
        struct route *r = &routes[i];
        if (r->realm == realm && r->family == family && !memcmp(r->address, address, family == 6 ? 16 : 4))
            *r-- = routes[--route_count], i--;
    }
}

static const char *add_port(int p, int tun, int epoll) {
    if (p != port_count || p >= PORTS || tun < 0) return "ports come in order, each with its device";
    fcntl(tun, F_SETFL, fcntl(tun, F_GETFL) | O_NONBLOCK);
    ports[port_count++] = (struct port){.tun = tun, .is_up = 1, .behind = -1};
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)p};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, tun, &event) ? strerror(errno) : "ok";
}

static const char *obey(const char *order, int tun, int epoll) {
    static char counts[80];
    char verb[16], text[64];
    int p, q, family, skip = 0;
    uint8_t address[16] = {0};
    if (sscanf(order, "%15s %n", verb, &skip) != 1) return "an empty order";
    const char *rest = order + skip;
    if (!strcmp(verb, "seed") && sscanf(rest, "%d", &p) == 1) return srand48(p), "ok";
    if (!strcmp(verb, "count")) return sprintf(counts, "ok %ld %ld %ld", carried, carried_bytes, dropped), counts;
    if (!strcmp(verb, "port") && sscanf(rest, "%d", &p) == 1) return add_port(p, tun, epoll);
    if (!strcmp(verb, "route")) {
        struct route r = {0};
        if (sscanf(rest, "%d %63s %d %d", &r.realm, text, &r.length, &r.to) != 4) return "route: four words";
        if (!is_address(text, &r.family, r.address) || route_count == ROUTES) return "route: bad address, or too many";
        if (r.to >= port_count || r.to < -PORTS) return "route: no such port";
        unroute(r.realm, r.family, r.address);
        return routes[route_count++] = r, "ok";
    }
    if (!strcmp(verb, "unroute") && sscanf(rest, "%d %63s", &p, text) == 2) {
        if (!is_address(text, &family, address)) return "unroute: bad address";
        return unroute(p, family, address), "ok";
    }
    if (!strcmp(verb, "nat")) {
        struct nat n = {0};
        int filtering;
        if (sscanf(rest, "%d %63s %d %d %lf", &p, text, &n.is_symmetric, &filtering, &n.udp_idle_s) != 5) return "nat: words";
        if (p < 0 || p >= PORTS || inet_pton(AF_INET, text, n.address) != 1) return "nat: bad number or address";
        n.filtering = (enum filtering)filtering;
        return nats[p] = n, nat_forget(p), "ok";
    }
    if (sscanf(rest, "%d", &p) != 1 || p < 0 || p >= port_count) return "no such order, or no such port";
    struct port *port = &ports[p];
    if (!strcmp(verb, "inside") && sscanf(rest, "%d %d", &p, &port->behind) == 2) return "ok";
    if (!strcmp(verb, "lan") && sscanf(rest, "%d %d", &p, &port->lan) == 2) return "ok";
    if (!strcmp(verb, "host")) {
        double *up = &port->up_bytes, *down = &port->down_bytes;
        return sscanf(rest, "%d %d %lf %lf %lf", &p, &port->is_up, up, down, &port->queue_s) == 5 ? "ok" : "host: five words";
    }
    if (!strcmp(verb, "link")) {
        struct link l = {0};
        int found = sscanf(rest, "%d %d %lf %lf %lf %lf %d %d %d %d", &p, &q, &l.delay_s, &l.jitter_s, &l.loss, &l.reorder,
                           &l.mtu, &l.tells, &l.is_cut4, &l.is_cut6);
        if (found != 10 || q < 0 || q >= port_count) return "link: ten words, two of them ports";
        return links[p][q] = l, "ok";
    }
    return "no such order";
}

/* Take one order with the device that may come along; 0: nobody gives orders any more. */
static int take_order(int epoll) {
    char order[512], room[CMSG_SPACE(sizeof(int))];
    struct iovec part = {order, sizeof order - 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    ssize_t size = recvmsg(0, &message, MSG_CMSG_CLOEXEC);
    if (size <= 0) return 0;
    order[size] = 0;
    struct cmsghdr *extra = CMSG_FIRSTHDR(&message);
    int tun = -1;
    if (extra && extra->cmsg_type == SCM_RIGHTS) memcpy(&tun, CMSG_DATA(extra), sizeof tun);
    const char *answer = obey(order, tun, epoll);
    return send(0, answer, strlen(answer), MSG_NOSIGNAL) >= 0;
}

int main(void) {
    static uint8_t packet[LARGEST];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = PORTS}, events[BATCH];
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event)) return perror("switch"), 1;
    for (;;) {
        double now = now_s();
        while (heap_count && heap[0].at <= now) {
            struct waiting due = pop();
            hand_over(due.to, due.packet, due.size);
            free(due.packet);
        }
        int wait_ms = heap_count ? (int)((heap[0].at - now) * 1000) + 1 : 1000;
        int count = epoll_wait(epoll, events, BATCH, wait_ms);
        for (int i = 0; i < count; i++) {
            int from = (int)events[i].data.u32;
            if (from == PORTS && !take_order(epoll)) return 0;
            ssize_t size;
            for (int n = 0; from < PORTS && n < BATCH && (size = read(ports[from].tun, packet, sizeof packet)) > 0; n++)
                receive(from, packet, (int)size, now_s());
        }
    }
}
