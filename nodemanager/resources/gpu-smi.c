/* See gpu-smi.h. */
#include "nodemanager/resources/gpu-smi.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "common/xml.h"

#define PROGRAM "nvidia-smi"
#define PATIENCE_MS 10000 /* as Hadoop */
#define OUTPUT_MAX ((size_t)4 << 20)

/* ---- <nvidia_smi_log><gpu>… ---- */

enum { NONE, MINOR, UUID, MODEL, INDEX, GI, CI, N_TEXTS };

struct state {
    struct nm_smi *smi;
    struct nm_smi_gpu gpu; /* the open one */
    char text[NM_GPU_TEXT_MAX];
    size_t length; /* a longer text is cut, and is no number */
    int inside;    /* the open element of those above */
    bool mig, seen[N_TEXTS];
    uint32_t numbers[N_TEXTS];
};

static const struct {
    const char *name;
    int depth;
} texts[N_TEXTS] = {
    [MINOR] = { "minor_number", 3 }, [UUID] = { "uuid", 3 },
    [MODEL] = { "product_name", 3 }, [INDEX] = { "index", 5 },
    [GI] = { "gpu_instance_id", 5 }, [CI] = { "compute_instance_id", 5 },
};

static void on_start(struct sv_xml *x, const char *name, const char **attributes, void *userdata)
{
    const int depth = sv_xml_depth(x);
    struct state *s = userdata;

    (void)attributes;
    if (depth == 1 && !sv_streq(name, "nvidia_smi_log"))
        sv_xml_refuse(x, -EBADMSG, sv_xml_line(x), "its output is not an nvidia_smi_log");
    if (depth == 2) {
        memset(&s->gpu, 0, sizeof(s->gpu));
        memset(s->seen, 0, sizeof(s->seen));
    } else if (depth == 4) {
        s->mig = sv_streq(name, "mig_device");
        s->seen[INDEX] = s->seen[GI] = s->seen[CI] = false;
    }
    for (int i = NONE + 1; i < N_TEXTS; i++)
        if (depth == texts[i].depth && sv_streq(name, texts[i].name) && !s->seen[i] &&
            (depth == 3 || s->mig)) {
            s->inside = i;
            s->length = 0;
        }
}

static void on_text(struct sv_xml *x, const char *text, size_t n, void *userdata)
{
    struct state *s = userdata;

    (void)x;
    for (size_t i = 0; s->inside && i < n && s->length < sizeof(s->text); i++)
        s->text[s->length++] = text[i];
}

/* Becomes a value of containers' environment. */
static void take_name(char *to, const char *from, const char *more)
{
    for (const char *c = from; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(more, *c))
            return;
    (void)snprintf(to, NM_GPU_TEXT_MAX, "%s", from);
}

static void end_text(struct state *s)
{
    const int which = s->inside;
    uint64_t n;

    s->inside = NONE;
    s->seen[which] = false;
    if (s->length >= sizeof(s->text))
        return;
    s->text[s->length] = '\0';
    if (which == UUID)
        take_name(s->gpu.uuid, s->text, "-");
    else if (which == MODEL)
        take_name(s->gpu.model, s->text, " -+./_()");
    else if (sv_parse_u64(s->text, 0, NM_GPU_MINOR_MAX, &n) < 0)
        return;
    else
        s->numbers[which] = (uint32_t)n;
    s->seen[which] = true;
}

static bool add_gpu(struct state *s)
{
    struct nm_smi *smi = s->smi;

    if (!s->seen[MINOR] || smi->n == NM_SMI_GPUS_MAX)
        return false;
    s->gpu.minor = s->numbers[MINOR];
    for (size_t i = 0; i < smi->n; i++)
        if (smi->v[i].minor == s->gpu.minor)
            return false;
    smi->v[smi->n++] = s->gpu;
    return true;
}

static void on_end(struct sv_xml *x, const char *name, void *userdata)
{
    const int depth = sv_xml_depth(x);
    struct state *s = userdata;

    if (s->inside && depth == texts[s->inside].depth)
        end_text(s);
    if (depth == 4 && s->mig) {
        if (s->seen[INDEX] && s->seen[GI] && s->seen[CI] && s->gpu.n_mig < NM_SMI_MIG_MAX) {
            s->gpu.mig[s->gpu.n_mig].index = s->numbers[INDEX];
            s->gpu.mig[s->gpu.n_mig].gi = s->numbers[GI];
            s->gpu.mig[s->gpu.n_mig++].ci = s->numbers[CI];
        }
        s->mig = false;
    }
    if (depth == 2 && sv_streq(name, "gpu") && !add_gpu(s))
        sv_xml_refuse(x, -EBADMSG, sv_xml_line(x), "a GPU has no minor number of its own");
}

int nm_smi_parse(const char *xml, size_t len, struct nm_smi *ret, struct sv_error *err)
{
    static const struct sv_xml_events events = {
        .ignore_doctype = true, .start = on_start, .end = on_end, .text = on_text
    };
    struct state s = { .smi = ret };
    int r;

    memset(ret, 0, sizeof(*ret));
    r = sv_xml_parse(xml, SV_MIN(len, OUTPUT_MAX), PROGRAM, &events, &s, err);
    return r == -EINVAL
               ? sv_error_set(err, -EBADMSG, PROGRAM ": its output is not an nvidia_smi_log")
               : r;
}

/* ---- "GPU 0: NAME (UUID: GPU-…)", "  MIG 1g.5gb  Device  0: (UUID: MIG-…)" ---- */

/* "(UUID: MIG-…)" */
static void take_instance(const char *line, uint32_t gpu, struct nm_smi *smi)
{
    const char *device = strstr(line, "Device"), *uuid = strstr(line, "(UUID: ");
    char name[NM_GPU_TEXT_MAX];
    unsigned index;
    size_t n;

    if (gpu >= smi->n || !device || !uuid || sscanf(device, "Device %3u:", &index) != 1)
        return;
    uuid += strlen("(UUID: ");
    n = strcspn(uuid, ")");
    if (!sv_has_prefix(uuid, "MIG-") || uuid[n] != ')' || n >= sizeof(name))
        return;
    (void)snprintf(name, sizeof(name), "%.*s", (int)n, uuid);
    for (size_t i = 0; i < smi->v[gpu].n_mig; i++)
        if (smi->v[gpu].mig[i].index == index)
            take_name(smi->v[gpu].mig[i].uuid, name, "-/");
}

void nm_smi_parse_list(const char *text, size_t len, struct nm_smi *smi)
{
    const char *end = text + SV_MIN(len, OUTPUT_MAX);
    uint32_t gpu = UINT32_MAX;
    char line[512];

    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const size_t n = (size_t)((newline ? newline : end) - text);
        unsigned number;

        (void)snprintf(line, sizeof(line), "%.*s", (int)SV_MIN(n, sizeof(line) - 1), text);
        text = newline ? newline + 1 : end;
        if (sscanf(line, "GPU %3u:", &number) == 1)
            gpu = number;
        else if (sv_has_prefix(line + strspn(line, " \t"), "MIG "))
            take_instance(line, gpu, smi);
    }
}

/* ---- the program ---- */

int nm_smi_find(const char *named, char *path, size_t size, struct sv_error *err)
{
    struct stat st;
    bool directory = stat(named, &st) == 0 && S_ISDIR(st.st_mode);
    int n = snprintf(path, size, directory ? "%s/" PROGRAM : "%s", named);

    if (n >= 0 && (size_t)n < size && access(path, X_OK) == 0)
        return 0;
    return sv_error_errno(
        err, n < 0 || (size_t)n >= size ? -ENAMETOOLONG : -errno,
        "yarn.nodemanager.resource-plugins.gpu.path-to-discovery-executables: %.200s", named);
}

static int read_all(int fd, struct sv_buf *out)
{
    int64_t end = sv_now_ms() + PATIENCE_MS;
    char chunk[16384];

    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        int64_t left = end - sv_now_ms();
        ssize_t n;

        if (left <= 0 || poll(&p, 1, (int)left) == 0)
            return -ETIMEDOUT;
        n = read(fd, chunk, sizeof(chunk));
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n > 0) {
            int r = sv_buf_put(out, chunk, (size_t)n);

            if (r < 0)
                return r;
        }
    }
}

static int run_program(char *const *argv, struct sv_buf *out, struct sv_error *err)
{
    static char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL };
    const char *path = argv[0];
    posix_spawn_file_actions_t actions;
    int pipes[2], status = -1, r;
    pid_t pid;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return sv_error_errno(err, -errno, "%s", path);
    r = posix_spawn_file_actions_init(&actions);
    if (r == 0) {
        r = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (r == 0)
            r = posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
        if (r == 0)
            r = posix_spawn(&pid, path, &actions, NULL, argv, environment);
        posix_spawn_file_actions_destroy(&actions);
    }
    pipes[1] = sv_close(pipes[1]);
    if (r == 0) {
        r = -read_all(pipes[0], out);
        if (r)
            (void)kill(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    pipes[0] = sv_close(pipes[0]);
    if (r)
        return sv_error_errno(err, -r, "%s %s", path, argv[1]);
    if (status != 0)
        return sv_error_set(err, -EIO, "%s %s: exit status %d; is the driver loaded?", path,
                            argv[1], WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}

int nm_smi_run(const char *path, struct nm_smi *ret, struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(OUTPUT_MAX), list = SV_BUF_INIT(OUTPUT_MAX);
    char *const query[] = { (char *)(uintptr_t)path, "-q", "-x", NULL };
    char *const names[] = { query[0], "-L", NULL };
    size_t instances = 0;
    int r = run_program(query, &out, err);

    if (r >= 0)
        r = nm_smi_parse((const char *)out.data, out.len, ret, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < ret->n; i++)
        instances += ret->v[i].n_mig;
    if (instances)
        r = run_program(names, &list, err);
    if (instances && r >= 0)
        nm_smi_parse_list((const char *)list.data, list.len, ret);
    return r;
}
