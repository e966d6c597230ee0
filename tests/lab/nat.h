/* Routers between a home and the internet: address translation for IPv4, a stateful firewall for IPv6 (RFC 4787). */
#ifndef NAT_H
#define NAT_H
#include <stdint.h>

enum filtering { BY_NOTHING, BY_ADDRESS, BY_PORT }; /* which strangers may answer to a port that the inside has opened */

struct nat {
    uint8_t address[4];       /* its one public address */
    int is_symmetric;         /* a port of its own for each destination, else one for all */
    enum filtering filtering; /* of what comes in */
    double udp_idle_s;        /* a UDP port that the inside has not used for so long is closed */
};

/* Both rewrite the packet in place; 0: it is dropped. `inner` says to which IPv4 address of the inside it goes. */
int nat_outward(int id, const struct nat *nat, uint8_t *packet, int size, double now);
int nat_inward(int id, const struct nat *nat, uint8_t *packet, int size, double now, uint8_t inner[4]);
void nat_forget(int id); /* as after a restart of the router: whatever was open is closed */

#endif
