/* See servers.h. */
#include "hdfs/servers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

bool hdfs_host_valid(const char *s, size_t n)
{
    if (n == 0 || n > HDFS_HOST_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)s[i] <= 0x20 || (unsigned char)s[i] >= 0x7f || strchr(",/@[]?#", s[i]))
            return false;
    return true;
}

int hdfs_server_parse(const char *s, size_t n, struct hdfs_server *ret)
{
    bool v6 = n > 0 && s[0] == '[';
    const char *end = v6 ? memchr(s, ']', n) : memchr(s, ':', n), *host = v6 ? s + 1 : s;
    size_t len = end ? (size_t)(end - host) : n, used = end ? (size_t)(end - s) + v6 : n;
    struct hdfs_server v = { .port = HDFS_PORT };
    char port[6];
    uint64_t number;

    if ((v6 && !end) || !hdfs_host_valid(host, len))
        return -EINVAL;
    memcpy(v.host, host, len);
    if (used < n) {
        if (s[used] != ':' || n - used - 1 >= sizeof(port))
            return -EINVAL;
        memcpy(port, s + used + 1, n - used - 1);
        port[n - used - 1] = 0;
        if (sv_parse_u64(port, 1, UINT16_MAX, &number) < 0)
            return -EINVAL;
        v.port = (uint16_t)number;
    }
    *ret = v;
    return 0;
}

int hdfs_servers_parse(const char *text, struct hdfs_server ret[HDFS_NAMENODES_MAX],
                       unsigned *ret_n)
{
    unsigned n = 0;

    if (strnlen(text, HDFS_SERVERS_TEXT_MAX + 1) > HDFS_SERVERS_TEXT_MAX)
        return -EINVAL;
    for (const char *s = text;; s++) {
        size_t len = strcspn(s, ",");

        if (n == HDFS_NAMENODES_MAX || hdfs_server_parse(s, len, &ret[n]) < 0)
            return -EINVAL;
        n++;
        s += len;
        if (!*s)
            break;
    }
    *ret_n = n;
    return 0;
}

int hdfs_servers_text(const struct hdfs_site *site, char ret[HDFS_SERVERS_TEXT_MAX + 1])
{
    size_t len = 0;

    for (unsigned i = 0; i < site->n_servers; i++) {
        const struct hdfs_server *s = &site->servers[i];
        bool v6 = strchr(s->host, ':');
        int n = snprintf(ret + len, HDFS_SERVERS_TEXT_MAX + 1 - len, "%s%s%s%s:%u", i ? "," : "",
                         v6 ? "[" : "", s->host, v6 ? "]" : "", s->port);

        if (n < 0 || (size_t)n > HDFS_SERVERS_TEXT_MAX - len)
            return -E2BIG;
        len += (size_t)n;
    }
    return 0;
}
