/* See ports.h. */
#include "service/am/framework/ports.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>

#include "common/buf.h"

struct host {
    char *name;
    uint32_t n;          /* taken */
    uint8_t taken[8192]; /* a bit a port */
    UT_hash_handle hh;
};
struct svc_ports {
    uint16_t first, last;
    struct host *hosts;
};

static bool is_taken(const struct host *h, uint32_t port)
{
    return h->taken[port / 8] & (1u << port % 8);
}

static void take(struct host *h, uint32_t port)
{
    h->n += !is_taken(h, port);
    h->taken[port / 8] |= (uint8_t)(1u << port % 8);
}

static void give(struct host *h, uint32_t port)
{
    h->n -= is_taken(h, port);
    h->taken[port / 8] &= (uint8_t) ~(1u << port % 8);
}

static struct host *find(struct svc_ports *p, const char *name)
{
    struct host *h;

    HASH_FIND_STR(p->hosts, name, h);
    return h;
}

static struct host *get(struct svc_ports *p, const char *name)
{
    struct host *h = find(p, name);

    if (h)
        return h;
    h = calloc(1, sizeof(*h));
    if (!h || !(h->name = strdup(name))) {
        free(h);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, p->hosts, h->name, strlen(h->name), h);
    return h;
}

static void drop_empty(struct svc_ports *p, struct host *h)
{
    if (h->n > 0)
        return;
    HASH_DEL(p->hosts, h);
    free(h->name);
    free(h);
}

/* ---- Picking ---- */

struct picking {
    struct svc_ports *ports;
    struct host *host, before; /* bits of `before`: what other tasks have */
    struct sv_buf text;
    uint32_t next, tried; /* in the range */
};

static int put(struct picking *k, const char *separator, uint32_t port)
{
    return sv_buf_printf(&k->text, "%s%u", separator, port);
}

/* A number can have two labels of one task. */
static int pick_named(struct picking *k, const struct svc_fw_ports *d)
{
    int r = sv_buf_printf(&k->text, "%s:", d->label);

    for (int32_t i = 0; r == 0 && i < d->count; i++) {
        int64_t port = (int64_t)d->start + i;

        if (port > UINT16_MAX)
            return -EADDRNOTAVAIL;
        if (is_taken(&k->before, (uint32_t)port))
            return -EADDRINUSE;
        take(k->host, (uint32_t)port);
        r = put(k, i ? "," : "", (uint32_t)port);
    }
    return r == 0 ? sv_buf_put_str(&k->text, ";") : r;
}

static int pick_free(struct picking *k, const struct svc_fw_ports *d)
{
    uint32_t size = (uint32_t)k->ports->last - k->ports->first + 1;
    int r = sv_buf_printf(&k->text, "%s:", d->label);

    for (int32_t n = 0; r == 0 && n < d->count;) {
        uint32_t port = k->ports->first + k->next % size;

        if (k->tried++ == size)
            return -ENOSPC;
        k->next++;
        if (is_taken(k->host, port))
            continue;
        take(k->host, port);
        r = put(k, n++ ? "," : "", port);
    }
    return r == 0 ? sv_buf_put_str(&k->text, ";") : r;
}

static int pick(struct picking *k, const struct svc_fw_resource *r)
{
    int s = 0;

    for (size_t i = 0; s == 0 && i < r->n_ports; i++)
        if (r->ports[i].start != 0)
            s = pick_named(k, &r->ports[i]);
    for (size_t i = 0; s == 0 && i < r->n_ports; i++)
        if (r->ports[i].start == 0)
            s = pick_free(k, &r->ports[i]);
    return s == 0 ? sv_buf_put_u8(&k->text, 0) : s;
}

int svc_ports_take(struct svc_ports *p, const char *host, const struct svc_fw_resource *r,
                   uint32_t random, char **ret)
{
    struct picking k = { .ports = p, .text = SV_BUF_INIT(SVC_FW_PORTS_TEXT_MAX) };
    int s;

    k.next = random;
    k.host = get(p, host);
    if (!k.host)
        return -ENOMEM;
    k.before = *k.host;
    s = pick(&k, r);
    if (s == 0) {
        *ret = (char *)k.text.data;
    } else {
        memcpy(k.host->taken, k.before.taken, sizeof(k.host->taken));
        k.host->n = k.before.n;
        sv_buf_free(&k.text);
    }
    drop_empty(p, k.host);
    return s == -EMSGSIZE ? -EFBIG : s;
}

/* ---- The text ---- */

/* Digits up to ',', ';' or the end; NULL: none, or too large. */
static const char *number(const char *s, uint16_t *ret)
{
    uint32_t n = 0;
    const char *from = s;

    for (; *s >= '0' && *s <= '9' && n <= UINT16_MAX; s++)
        n = 10 * n + (uint32_t)(*s - '0');
    *ret = (uint16_t)n;
    return s == from || n > UINT16_MAX || !strchr(",;", *s) ? NULL : s;
}

int svc_ports_each(const char *text, void (*fn)(uint16_t port, void *userdata), void *userdata)
{
    const char *s = text;
    uint16_t port;

    while (*s) {
        s = strchr(s, ':');
        if (!s)
            return -EINVAL;
        do {
            s = number(s + 1, &port);
            if (!s)
                return -EINVAL;
            if (fn)
                fn(port, userdata);
        } while (*s == ',');
        if (*s == ';')
            s++;
    }
    return 0;
}

static void take_one(uint16_t port, void *userdata)
{
    take(userdata, port);
}

static void give_one(uint16_t port, void *userdata)
{
    give(userdata, port);
}

int svc_ports_adopt(struct svc_ports *p, const char *host, const char *text)
{
    struct host *h;

    if (svc_ports_each(text, NULL, NULL) < 0)
        return -EINVAL;
    h = get(p, host);
    if (!h)
        return -ENOMEM;
    (void)!svc_ports_each(text, take_one, h); /* it was checked, ignoring */
    drop_empty(p, h);
    return 0;
}

void svc_ports_give(struct svc_ports *p, const char *host, const char *text)
{
    struct host *h = find(p, host);

    if (!h)
        return;
    (void)!svc_ports_each(text, give_one, h); /* our own text, ignoring */
    drop_empty(p, h);
}

/* ---- Life ---- */

int svc_ports_new(uint16_t first, uint16_t last, struct svc_ports **ret)
{
    struct svc_ports *p = calloc(1, sizeof(*p));

    if (!p)
        return -ENOMEM;
    *p = (struct svc_ports){ .first = first, .last = last };
    *ret = p;
    return 0;
}

struct svc_ports *svc_ports_free(struct svc_ports *p)
{
    struct host *h, *next;

    if (!p)
        return NULL;
    HASH_ITER (hh, p->hosts, h, next) {
        HASH_DEL(p->hosts, h);
        free(h->name);
        free(h);
    }
    free(p);
    return NULL;
}
