/* See topology.h. */
#include "rm-lite/nodes/topology.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "common/fd.h"
#include "common/str.h"
#include "rm-lite/core/text.h"
#include "rm-lite/nodes/topology-script.h"
#include "rm-lite/scheduler/hash.h"
#include "rm-lite/scheduler/scheduler.h"

#define CLASSES "org.apache.hadoop.net."
#define CACHE_MAX 100000 /* addresses; when full, all are forgotten */

struct place { /* a row of the table, or an answer of the script */
    UT_hash_handle hh;
    char *rack;
    char name[]; /* host or address */
};

struct rack_lookup { /* waits for the script */
    struct rack_lookup *prev, *next;
    struct ipc_call *call;
    const ProtobufCMessage *request; /* in the call's arena */
    char *address;                   /* in the call's arena */
    rm_rack_done done;
    bool asked; /* an argument of the running script */
};

struct rm_topology {
    bool uses_table;
    struct place *table, *answers;
    struct rack_lookup *waiting;
    struct rm_topology_run *run;
    int64_t timeout_ms; /* limit of a run */
};

bool rm_rack_valid(const char *rack)
{
    if (*rack != '/' || strlen(rack) > RM_RACK_MAX || strstr(rack, "//"))
        return false;
    for (const char *p = rack; *p; p++)
        if (!isgraph((unsigned char)*p))
            return false;
    return rack[1] && rack[strlen(rack) - 1] != '/';
}

/* ---- Places ---- */

static void places_clear(struct place **all)
{
    struct place *p, *tmp;

    HASH_ITER (hh, *all, p, tmp) {
        HASH_DEL(*all, p);
        free(p->rack);
        free(p);
    }
}

static const char *place_find(struct place *all, const char *name)
{
    struct place *p;

    HASH_FIND_STR(all, name, p);
    return p ? p->rack : NULL;
}

static int place_add(struct place **all, const char *name, const char *rack)
{
    size_t n = strlen(name) + 1;
    struct place *p, *old;

    HASH_FIND_STR(*all, name, old);
    if (old) { /* the last row wins, as in Hadoop */
        rm_set_text(&old->rack, rack);
        return 0;
    }
    if (HASH_COUNT(*all) >= CACHE_MAX)
        places_clear(all);
    p = calloc(1, sizeof(*p) + n);
    if (!p)
        return -ENOMEM;
    memcpy(p->name, name, n);
    p->rack = rm_strdup(rack);
    HASH_ADD_STR(*all, name, p);
    return 0;
}

/* ---- The table file: "host-or-address rack" a line ---- */

static int read_line(struct place **table, const char *path, int number, char *line,
                     struct sv_error *err)
{
    char *name, *rack;

    line[strcspn(line, "#")] = '\0';
    name = rm_topology_word(&line);
    if (!name)
        return 0;
    rack = rm_topology_word(&line);
    if (!rack || rm_topology_word(&line))
        return sv_error_set(err, -EINVAL, "%s:%d: expected a host or address and its rack", path,
                            number);
    if (!rm_rack_valid(rack))
        return sv_error_set(err, -EINVAL, "%s:%d: %s: not a rack, such as /rack1 or /dc1/rack2",
                            path, number, rack);
    return place_add(table, name, rack);
}

static int read_table(const char *path, struct place **ret, struct sv_error *err)
{
    _cleanup_free_ char *text = NULL;
    struct place *table = NULL;
    char *save = NULL;
    size_t len;
    int number = 0, r;

    *ret = NULL;
    if (!*path)
        return 0;
    r = sv_read_file_at(AT_FDCWD, path, RM_TOPOLOGY_TABLE_MAX, &text, &len);
    if (r < 0)
        return sv_error_errno(err, r, "net.topology.table.file.name: %s", path);
    save = text;
    for (char *line; r >= 0 && (line = strsep(&save, "\n"));)
        r = read_line(&table, path, ++number, line, err);
    if (r < 0)
        places_clear(&table);
    *ret = table;
    return r;
}

/* ---- The script ---- */

static void start_script(struct rm *rm);

static void answer(struct rm *rm, struct rack_lookup *l, const char *rack)
{
    struct rack_lookup copy = *l;

    DL_DELETE(rm->topology->waiting, l);
    free(l);
    copy.done(rack, rm, copy.call, copy.request);
}

/* The racks come in the order of the addresses passed. */
static void on_racks(char *const *racks, const struct sv_error *err, void *userdata)
{
    struct rm *rm = userdata;
    struct rm_topology *t = rm->topology;
    struct rack_lookup *l, *tmp;
    size_t n = 0;

    t->run = NULL; /* frees itself */
    if (!racks)
        sv_log_warning("net.topology.script.file.name: %s: %s: nodes are in " RM_DEFAULT_RACK,
                       rm->conf.topology_script, err->text);
    for (l = t->waiting; l && l->asked; l = l->next, n++)
        if (racks && rm_rack_valid(racks[n])) {
            /* -ENOMEM: not cached, so the next look-up runs the script again; ignoring */
            (void)!place_add(&t->answers, l->address, racks[n]);
        } else if (racks) {
            sv_log_warning(
                "net.topology.script.file.name: %s: \"%.100s\" of %s is not a rack, such "
                "as /rack1",
                rm->conf.topology_script, racks[n], l->address);
        }
    DL_FOREACH_SAFE (t->waiting, l, tmp) {
        const char *rack = place_find(t->answers, l->address);

        if (!l->asked)
            break;
        answer(rm, l, rack ? rack : RM_DEFAULT_RACK);
    }
    start_script(rm);
}

static void start_script(struct rm *rm)
{
    struct rm_topology *t = rm->topology;
    const char *addresses[1024];
    struct rack_lookup *l;
    struct sv_error err = { 0 };
    size_t n = 0, max = SV_MIN((size_t)rm->conf.topology_script_args, SV_ARRAY_LEN(addresses));

    if (t->run || !t->waiting)
        return;
    for (l = t->waiting; l && n < max; l = l->next) {
        l->asked = true;
        addresses[n++] = l->address;
    }
    if (rm_topology_run_start(rm->event, rm->conf.topology_script, addresses, n, t->timeout_ms,
                              on_racks, rm, &t->run, &err) < 0) {
        sv_log_warning("net.topology.script.file.name: %s: nodes are in " RM_DEFAULT_RACK,
                       err.text);
        while (t->waiting)
            answer(rm, t->waiting, RM_DEFAULT_RACK);
    }
}

static void ip_text(const struct in6_addr *ip, char buf[INET6_ADDRSTRLEN])
{
    bool mapped = IN6_IS_ADDR_V4MAPPED(ip);

    (void)inet_ntop(mapped ? AF_INET : AF_INET6, ip->s6_addr + (mapped ? 12 : 0), buf,
                    INET6_ADDRSTRLEN);
}

void rm_topology_find(struct rm *rm, struct ipc_call *call, const ProtobufCMessage *request,
                      const char *host, rm_rack_done done)
{
    struct rm_topology *t = rm->topology;
    char address[INET6_ADDRSTRLEN];
    const char *rack = place_find(t->table, host);
    struct rack_lookup *l;

    ip_text(&ipc_call_peer(call)->ip, address);
    if (!rack)
        rack = place_find(t->table, address);
    if (!rack)
        rack = place_find(t->answers, address);
    if (rack || t->uses_table || !*rm->conf.topology_script) {
        done(rack ? rack : RM_DEFAULT_RACK, rm, call, request);
        return;
    }
    l = calloc(1, sizeof(*l));
    if (!l || !(l->address = sv_arena_strdup(ipc_call_arena(call), address))) {
        free(l);
        done(RM_DEFAULT_RACK, rm, call, request);
        return;
    }
    l->call = call;
    l->request = request;
    l->done = done;
    DL_APPEND(t->waiting, l);
    start_script(rm);
}

/* ---- Life ---- */

int rm_topology_new(struct rm *rm, struct sv_error *err)
{
    const char *class = rm->conf.topology_class, *script = rm->conf.topology_script;
    struct rm_topology *t;
    bool table = strcmp(class, CLASSES "TableMapping") == 0;

    if (!table && strcmp(class, CLASSES "ScriptBasedMapping") != 0)
        return sv_error_set(err, -EINVAL,
                            "net.topology.node.switch.mapping.impl: %s: expected %sTableMapping or "
                            "%sScriptBasedMapping, of which each has its file",
                            class, CLASSES, CLASSES);
    if (!table && *script && (*script != '/' || access(script, X_OK) < 0))
        return sv_error_set(err, -EINVAL, "net.topology.script.file.name: %s: %s", script,
                            *script == '/' ? strerror(errno) : "expected an absolute path");
    t = calloc(1, sizeof(*t));
    if (!t)
        return sv_error_errno(err, -ENOMEM, "topology");
    t->uses_table = table;
    t->timeout_ms = RM_TOPOLOGY_TIMEOUT_MS;
    rm->topology = t;
    return table ? read_table(rm->conf.topology_table, &t->table, err) : 0;
}

void rm_topology_free(struct rm *rm)
{
    struct rm_topology *t = rm->topology;

    if (!t)
        return;
    t->run = rm_topology_run_free(t->run);
    while (t->waiting)
        answer(rm, t->waiting, NULL);
    places_clear(&t->table);
    places_clear(&t->answers);
    free(t);
    rm->topology = NULL;
}

void rm_topology_set_timeout(struct rm *rm, int64_t timeout_ms)
{
    rm->topology->timeout_ms = timeout_ms;
}

int rm_topology_refresh(struct rm *rm, struct sv_error *err)
{
    struct rm_topology *t = rm->topology;
    struct place *table = NULL;
    int r = t->uses_table ? read_table(rm->conf.topology_table, &table, err) : 0;

    if (r < 0)
        return r;
    places_clear(&t->table);
    places_clear(&t->answers);
    t->table = table;
    return 0;
}
