/* Reader of the policy (policy.h), linked into container-executor and container-prepare. The file
 * is root's, so this guards against mistakes: another version, a truncated or an outdated file MUST
 * NOT be used. Also run by unit tests and by a fuzzer. */
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "setuid-helper/helper.h"

bool hlp_policy_texts(struct hlp_policy *p, bool (*each)(const char **text, void *), void *argument)
{
    struct hlp_list *const lists[] = { &p->local_dirs, &p->log_dirs, &p->allowed_system,
                                       &p->masks };
    bool ok = each(&p->cgroup_root, argument) && each(&p->label, argument) &&
              each(&p->answer, argument) && each(&p->held, argument) &&
              each(&p->unfiltered, argument) && p->local_dirs.n <= EXE_DIRS_MAX &&
              p->log_dirs.n <= EXE_DIRS_MAX && p->n_nodes <= HLP_ASSIGNABLE_MAX &&
              p->n_sources <= HLP_SOURCES_MAX && p->n_controls <= HLP_ASSIGNABLE_MAX - p->n_nodes &&
              p->n_controls <= HLP_CONTROLS_MAX && p->refused_uids.n <= 2 * HLP_LIST_MAX &&
              p->refused_gids.n <= 2 * HLP_LIST_MAX && p->n_device_code <= HLP_DEVICE_CODE_MAX;
    for (size_t k = 0; ok && k < sizeof(lists) / sizeof(lists[0]); k++) {
        ok = lists[k]->n <= HLP_LIST_MAX;
        for (uint32_t i = 0; ok && i < lists[k]->n; i++)
            ok = each(&lists[k]->v[i], argument);
    }
    for (uint32_t i = 0; ok && i < p->n_nodes + p->n_controls; i++)
        ok = each(&p->nodes[i].path, argument);
    for (uint32_t i = 0; ok && i < p->n_sources; i++)
        ok = each(&p->sources[i].path, argument);
    return ok;
}

struct pool {
    const char *at, *end;
};

static bool place(const char **text, void *argument)
{
    struct pool *pool = argument;
    const char *end = memchr(pool->at, '\0', (size_t)(pool->end - pool->at));
    *text = pool->at;
    pool->at = end ? end + 1 : pool->end;
    return end != NULL;
}

static bool account_ok(const struct hlp_user *u)
{
    return u->uid != 0 && u->uid <= HLP_ID_MAX && u->gid != 0 && u->gid <= HLP_ID_MAX &&
           u->n_groups == 0 && memchr(u->name, '\0', sizeof(u->name));
}

static bool place_filter(struct sock_fprog *f, struct pool *pool)
{
    const size_t size = f->len * sizeof(*f->filter);
    f->filter = (struct sock_filter *)(uintptr_t)pool->at;
    if (f->len == 0 || f->len > HLP_BPF_MAX || size > (size_t)(pool->end - pool->at))
        return false;
    pool->at += size;
    return true;
}

bool hlp_policy_place(struct hlp_policy *p, size_t len)
{
    struct pool pool = { p->text, (const char *)p + len };
    bool ok = len > offsetof(struct hlp_policy, text);
    for (int i = 0; ok && i < HLP_FILTERS; i++)
        ok = place_filter(&p->filters[i], &pool);
    return ok && p->magic == HLP_POLICY_MAGIC && p->id == HLP_POLICY_ID && p->length == len &&
           account_ok(&p->nm) && account_ok(&p->monitor) && account_ok(&p->public) &&
           account_ok(&p->lookup) && p->nm_gid != 0 && hlp_policy_texts(p, place, &pool) &&
           pool.at == pool.end;
}

bool hlp_list_has(const struct hlp_list *l, const char *name)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i], name) == 0)
            return true;
    return false;
}

bool hlp_id_refused(const struct hlp_ids *ids, uint32_t id)
{
    bool refused = id == 0 || id > HLP_ID_MAX;
    for (uint32_t i = 0; i < ids->n; i++)
        refused = refused || ids->v[i] == id;
    return refused;
}

void hlp_source_probe(struct hlp_source *s)
{
    struct stat st;
    s->dev = s->ino = s->uid = s->mode = s->size = 0;
    s->mtime = s->ctime = (struct timespec){ 0 };
    if (fstatat(AT_FDCWD, s->path, &st, 0) < 0)
        return;
    s->dev = st.st_dev;
    s->ino = st.st_ino;
    s->uid = st.st_uid;
    s->mode = st.st_mode;
    if (s->content) {
        s->size = (uint64_t)st.st_size;
        s->mtime = st.st_mtim;
        s->ctime = st.st_ctim;
    }
}

/* True if the cgroup whose filter is to be detached has become empty. */
static bool held_for_nothing(const char *held)
{
    char events[256] = "";
    int fd = held[0] ? hlp_openat2(AT_FDCWD, held, O_RDONLY, RESOLVE_NO_SYMLINKS) : -1;
    bool empty =
        fd >= 0 && read(fd, events, sizeof(events) - 1) > 0 && strstr(events, "populated 0");
    if (fd >= 0)
        (void)close(fd);
    return empty;
}

bool hlp_policy_up_to_date(const struct hlp_policy *p)
{
    for (uint32_t i = 0; i < p->n_sources; i++) {
        struct hlp_source now = p->sources[i];
        hlp_source_probe(&now);
        if (memcmp(&now, &p->sources[i], sizeof(now)) != 0)
            return false;
    }
    return !held_for_nothing(p->held);
}

int hlp_policy_read(struct hlp_policy *p)
{
    const size_t head = offsetof(struct hlp_policy, text);
    struct stat st;
    int fd = hlp_open_trusted(EXECUTOR_STATE "/policy", O_RDONLY, EXE_STATUS_OK, EXE_STATUS_STATE);
    if (fd < 0)
        return -1;
    bool good = fstat(fd, &st) == 0 && read(fd, p, head) == (ssize_t)head && p->length > head &&
                p->length <= sizeof(*p) &&
                (uint64_t)st.st_size == p->length + p->n_users * sizeof(struct hlp_user) &&
                read(fd, p->text, p->length - head) == (ssize_t)(p->length - head) &&
                hlp_policy_place(p, p->length) && hlp_policy_up_to_date(p);
    if (good)
        return fd;
    (void)close(fd);
    return -1;
}
