/* The lists of the connect filter in container-executor.cfg: ports that no container may connect to
 * at any address, networks that it may not connect to, and exceptions of these. Part of
 * container-prepare; root's input, so this guards against mistakes: an entry with two meanings MUST
 * be refused. Also run by unit tests and a fuzzer. */
#include <arpa/inet.h>
#include <string.h>

#include "setuid-helper/prepare.h"

/* Parses "31": at most 5 digits, at most `max`, without a leading zero. */
static bool decimal(const char *s, size_t n, unsigned max, unsigned *ret)
{
    unsigned v = 0;
    if (n == 0 || n > 5 || (s[0] == '0' && n > 1))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        v = v * 10 + (unsigned)(s[i] - '0');
    }
    *ret = v;
    return v <= max;
}

static const char *port(const char *s, size_t n, void *ret)
{
    unsigned v = 0;
    if (!decimal(s, n, 65535, &v) || v == 0)
        return "not a port: a plain number from 1 to 65535";
    *(uint16_t *)ret = (uint16_t)v;
    return NULL;
}

/* Parses the entries of a list, each by `parse` into one of the HLP_CONNECT_MAX elements of `v`. */
static const char *entries(const char *text, const char *(*parse)(const char *, size_t, void *),
                           void *v, size_t size, const char *too_many, unsigned *ret_n)
{
    *ret_n = 0;
    for (const char *s = text; *text; s++) {
        const size_t n = strcspn(s, ",");
        if (*ret_n == HLP_CONNECT_MAX)
            return too_many;
        const char *why = parse(s, n, (char *)v + *ret_n * size);
        if (why)
            return why;
        ++*ret_n;
        s += n;
        if (*s == '\0')
            break;
    }
    return NULL;
}

const char *hlp_connect_ports(struct hlp_ports *l, const char *text)
{
    l->text = text;
    return entries(text, port, l->v, sizeof(*l->v), "more than 64 ports", &l->n);
}

static bool is_mapped(const uint8_t address[16])
{
    static const uint8_t start[12] = { [10] = 0xff, [11] = 0xff };
    return memcmp(address, start, sizeof(start)) == 0;
}

/* Parses "10.0.0.0/8", "10.1.2.3", "fd00::/8". One meaning each: bits after the prefix are
 * refused. */
static const char *network(char *text, struct hlp_network *net)
{
    char *slash = strchr(text, '/');
    unsigned prefix;
    if (slash)
        *slash++ = '\0';
    net->v6 = strchr(text, ':') != NULL;
    const unsigned bits = net->v6 ? 128 : 32;
    if (inet_pton(net->v6 ? AF_INET6 : AF_INET, text, net->address) != 1)
        return "not an address: write 10.1.2.3, 10.0.0.0/8, 10.1.2.3:80, fd00::1, fd00::/8 or "
               "[fd00::1]:80";
    if (net->v6 && is_mapped(net->address))
        return "an IPv4 address in IPv6 form: write it as IPv4, which is judged in both forms";
    prefix = bits;
    if (slash && !decimal(slash, strlen(slash), bits, &prefix))
        return "not the length of a prefix: 0 to 32, or to 128 for IPv6";
    for (unsigned i = prefix; i < bits; i++)
        if (net->address[i / 8] >> (7 - i % 8) & 1)
            return "the address has bits behind its prefix: write the network's first address";
    net->prefix = (uint8_t)prefix;
    return NULL;
}

/* Parses one entry of a list: a network, with ":port" after IPv4 or brackets. */
static const char *entry(const char *s, size_t n, void *ret)
{
    struct hlp_network *net = ret;
    char text[64];
    *net = (struct hlp_network){ .port = 0 };
    if (n >= sizeof(text))
        return "an entry is too long";
    memcpy(text, s, n);
    text[n] = '\0';
    char *start = text, *colon = NULL;
    if (*start == '[') {
        char *end = strchr(++start, ']');
        if (!end || (end[1] != '\0' && end[1] != ':') || !memchr(start, ':', (size_t)(end - start)))
            return "brackets hold an IPv6 address, and a port may follow them: [fd00::1]:80";
        colon = end[1] ? end + 1 : NULL;
        *end = '\0';
    } else if (strchr(text, ':') == strrchr(text, ':')) {
        colon = strchr(text, ':');
    }
    if (colon) {
        *colon++ = '\0';
        const char *why = port(colon, strlen(colon), &net->port);
        if (why)
            return why;
    }
    return network(start, net);
}

const char *hlp_connect_networks(struct hlp_networks *l, const char *text)
{
    l->text = text;
    return entries(text, entry, l->v, sizeof(*l->v), "more than 64 networks", &l->n);
}

/* Ports of the ResourceManager for nodes and administrators; addresses of clouds' metadata services
 * with credentials of the machine (docs/operate/hardening.md has the sources), except their name
 * servers. */
const char *hlp_connect_defaults(struct hlp_connect *c)
{
    const char *why = NULL;
    if (!c->ports.text)
        why = hlp_connect_ports(&c->ports, "8031,8033");
    if (!why && !c->refused.text)
        why = hlp_connect_networks(
            &c->refused, "169.254.0.0/16,168.63.129.16:80,168.63.129.16:32526,100.100.100.200,"
                         "192.0.0.192,fd00:ec2::254,fd00:ec2::23,fd20:ce::254,fe80::a9fe:a9fe,"
                         "fd00:42::42");
    if (!why && !c->allowed.text)
        why = hlp_connect_networks(&c->allowed, "169.254.0.0/16:53");
    return why;
}
