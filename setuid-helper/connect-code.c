/* The connect filter of containers and localizers: eBPF programs that the kernel runs on the
 * address of connect() and of sendto(), sendmsg() and sendmmsg() without a connection, TCP Fast
 * Open and MPTCP among them. One program checks addresses given as IPv4, one those given as IPv6,
 * which may be IPv4-mapped (::ffff:10.0.0.1) and are then checked as IPv4. Part of
 * container-prepare.
 *
 * The context is struct bpf_sock_addr: address and port in network byte order. 0.0.0.0 and :: are
 * "this machine": the kernel would choose an address of its own, after this program, by the
 * socket's source address or device. So the program writes the loopback address there and checks
 * that: the kernel connects to the address that was checked. */
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "setuid-helper/bpf-code.h"
#include "setuid-helper/prepare.h"

#define ADDRESS BPF_REG_2 /* IPv4; for IPv6 the four words are in this and the next three */
#define V6_LAST BPF_REG_5
#define PORT BPF_REG_6
#define AT(field) offsetof(struct bpf_sock_addr, field)

static void emit(struct hlp_code *c, struct bpf_insn i)
{
    if (c->n == HLP_CONNECT_CODE_MAX) /* large enough for the maximum number of rules */
        hlp_fail(EXE_STATUS_DEVICE_FILTER, E2BIG, "connect filter: too many rules");
    c->v[c->n++] = i;
}

static void answer(struct hlp_code *c, bool allowed)
{
    const struct bpf_insn r[] = { RETURN(allowed) };
    emit(c, r[0]);
    emit(c, r[1]);
}

/* Target of a forward jump. */
static void here(struct hlp_code *c, unsigned jump)
{
    c->v[jump].off = (short)(c->n - jump - 1);
}

static uint32_t word(const uint8_t *address)
{
    uint32_t w;
    memcpy(&w, address, sizeof(w));
    return w;
}

/* Mask of a prefix, in network byte order. */
static uint32_t mask(unsigned bits)
{
    return bits == 0 ? 0 : htonl(~0U << (32 - (bits < 32 ? bits : 32)));
}

/* Returns a verdict if the address in `n_words` registers from `first` on, and the port, match the
 * rule. */
static void rule(struct hlp_code *c, const struct hlp_network *net, unsigned first, unsigned words,
                 bool allowed)
{
    unsigned jumps[5], n = 0;
    for (unsigned i = 0; i < words; i++) {
        const unsigned taken = net->prefix > 32 * i ? net->prefix - 32 * i : 0;
        const uint32_t m = mask(taken);
        unsigned reg = first + i;
        if (taken == 0 && i > 0) /* the first word is always compared: /0 has no bits, but the */
            break;               /* kernel refuses a program with unreachable instructions */
        if (taken < 32) {
            emit(c, MOVE(BPF_REG_0, reg));
            emit(c, AND(BPF_REG_0, m));
            reg = BPF_REG_0;
        }
        jumps[n++] = c->n;
        emit(c, UNLESS(reg, word(net->address + 4 * i), 0));
    }
    if (net->port) {
        jumps[n++] = c->n;
        emit(c, UNLESS(PORT, htons(net->port), 0));
    }
    answer(c, allowed);
    while (n > 0)
        here(c, jumps[--n]);
}

static void rules(struct hlp_code *c, const struct hlp_networks *l, bool v6, unsigned first,
                  bool allowed)
{
    for (unsigned i = 0; i < l->n; i++)
        if (l->v[i].v6 == v6)
            rule(c, &l->v[i], first, v6 ? 4 : 1, allowed);
}

/* Ports first: no exception opens them. */
static void ports(struct hlp_code *c, const struct hlp_ports *l)
{
    for (unsigned i = 0; i < l->n; i++) {
        emit(c, UNLESS(PORT, htons(l->v[i]), 2));
        answer(c, false);
    }
}

/* Checks the IPv4 address in `reg`, which is at `at` of the context, to a final verdict. */
static void judge_v4(struct hlp_code *c, const struct hlp_connect *r, unsigned reg, size_t at)
{
    emit(c, UNLESS(reg, 0, 2));
    emit(c, SET(reg, htonl(INADDR_LOOPBACK)));
    emit(c, STORE(at, reg));
    rules(c, &r->allowed, false, reg, true);
    rules(c, &r->refused, false, reg, false);
    answer(c, true);
}

void hlp_connect_code(const struct hlp_connect *r, bool v6, struct hlp_code *c)
{
    unsigned other[3];
    c->n = 0;
    emit(c, LOAD(PORT, AT(user_port)));
    ports(c, &r->ports);
    if (!v6) {
        emit(c, LOAD(ADDRESS, AT(user_ip4)));
        judge_v4(c, r, ADDRESS, AT(user_ip4));
        return;
    }
    for (unsigned i = 0; i < 4; i++)
        emit(c, LOAD(ADDRESS + i, AT(user_ip6) + 4 * i));
    for (unsigned i = 0; i < 2; i++) {
        other[i] = c->n;
        emit(c, UNLESS(ADDRESS + i, 0, 0));
    }
    other[2] = c->n;
    emit(c, UNLESS(ADDRESS + 2, htonl(0xffff), 0));
    judge_v4(c, r, V6_LAST, AT(user_ip6) + 12);
    here(c, other[2]);
    emit(c, UNLESS(ADDRESS + 2, 0, 3)); /* "::" */
    emit(c, UNLESS(V6_LAST, 0, 2));
    emit(c, SET(V6_LAST, htonl(1)));
    emit(c, STORE(AT(user_ip6) + 12, V6_LAST));
    here(c, other[0]);
    here(c, other[1]);
    rules(c, &r->allowed, true, ADDRESS, true);
    rules(c, &r->refused, true, ADDRESS, false);
    answer(c, true);
}
