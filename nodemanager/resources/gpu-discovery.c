/* See gpu-discovery.h. */
#include "nodemanager/resources/gpu-discovery.h"

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
#define MINOR_MAX 254 /* 255 is nvidiactl, 254 nvidia-modeset */

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static int add(uint32_t minor, uint32_t *list, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i] == minor)
            return -EEXIST;
    if (*n == NM_GPUS_MAX)
        return -E2BIG;
    list[(*n)++] = minor;
    qsort(list, *n, sizeof(*list), compare);
    return 0;
}

static int parse_allowed(const char *allowed, uint32_t *ret, size_t *ret_n, struct sv_error *err)
{
    _cleanup_strv_ char **list = NULL;
    int r = sv_strv_split(allowed, ',', &list);

    if (r < 0)
        return sv_error_errno(err, r, "allowed-gpu-devices");
    for (char **one = list; one && *one; one++) {
        char *colon = strchr(*one, ':');
        uint64_t index, minor;

        if (colon)
            *colon = '\0';
        if (!colon || sv_parse_u64(*one, 0, MINOR_MAX, &index) < 0 ||
            sv_parse_u64(colon + 1, 0, MINOR_MAX, &minor) < 0 ||
            add((uint32_t)minor, ret, ret_n) < 0)
            return sv_error_set(
                err, -EINVAL,
                "yarn.nodemanager.resource-plugins.gpu.allowed-gpu-devices: \"%s\" is "
                "not auto and not a list of index:minor, each minor number once",
                allowed);
    }
    if (!*ret_n)
        return sv_error_set(err, -EINVAL,
                            "yarn.nodemanager.resource-plugins.gpu."
                            "allowed-gpu-devices: no device; auto finds them");
    return 0;
}

/* ---- <nvidia_smi_log><gpu><minor_number>N</minor_number>… ---- */

struct smi {
    uint32_t *list;
    size_t n;
    char minor[16]; /* of the open <gpu>; a longer text is no number */
    size_t length;
    bool seen, inside; /* only its first <minor_number> counts */
};

static void smi_start(struct sv_xml *x, const char *name, const char **attributes, void *userdata)
{
    struct smi *s = userdata;

    (void)attributes;
    if (sv_xml_depth(x) == 1 && !sv_streq(name, "nvidia_smi_log"))
        sv_xml_refuse(x, -EBADMSG, sv_xml_line(x), "its output is not an nvidia_smi_log");
    else if (sv_xml_depth(x) == 2) {
        s->length = 0;
        s->seen = false;
    } else if (sv_xml_depth(x) == 3 && sv_streq(name, "minor_number")) {
        s->inside = !s->seen;
        s->seen = true;
    }
}

static void smi_text(struct sv_xml *x, const char *text, size_t n, void *userdata)
{
    struct smi *s = userdata;

    (void)x;
    if (!s->inside)
        return;
    for (size_t i = 0; i < n && s->length < sizeof(s->minor); i++)
        s->minor[s->length++] = text[i];
}

static void smi_end(struct sv_xml *x, const char *name, void *userdata)
{
    struct smi *s = userdata;
    uint64_t minor;

    if (sv_xml_depth(x) == 3)
        s->inside = false;
    if (sv_xml_depth(x) != 2 || !sv_streq(name, "gpu"))
        return;
    s->minor[SV_MIN(s->length, sizeof(s->minor) - 1)] = '\0';
    if (s->length >= sizeof(s->minor) || sv_parse_u64(s->minor, 0, MINOR_MAX, &minor) < 0 ||
        add((uint32_t)minor, s->list, &s->n) < 0)
        sv_xml_refuse(x, -EBADMSG, sv_xml_line(x), "a GPU has no minor number of its own");
}

int nm_gpu_parse_smi(const char *xml, size_t len, uint32_t ret[NM_GPUS_MAX], size_t *ret_n,
                     struct sv_error *err)
{
    static const struct sv_xml_events events = {
        .ignore_doctype = true, .start = smi_start, .end = smi_end, .text = smi_text
    };
    struct smi smi = { .list = ret };
    int r = sv_xml_parse(xml, SV_MIN(len, OUTPUT_MAX), PROGRAM, &events, &smi, err);

    *ret_n = smi.n;
    return r == -EINVAL
               ? sv_error_set(err, -EBADMSG, PROGRAM ": its output is not an nvidia_smi_log")
               : r;
}

static int find_program(const char *discovery, char path[PATH_MAX], struct sv_error *err)
{
    static const char *const places[] = { "/usr/bin", "/bin", "/usr/local/nvidia/bin" };
    struct stat st;

    if (discovery && *discovery) {
        bool directory = stat(discovery, &st) == 0 && S_ISDIR(st.st_mode);

        (void)snprintf(path, PATH_MAX, directory ? "%s/" PROGRAM : "%s", discovery);
        if (access(path, X_OK) == 0)
            return 0;
        return sv_error_errno(err, -errno,
                              "yarn.nodemanager.resource-plugins.gpu."
                              "path-to-discovery-executables: %s",
                              path);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(places); i++) {
        (void)snprintf(path, PATH_MAX, "%s/" PROGRAM, places[i]);
        if (access(path, X_OK) == 0)
            return 0;
    }
    return sv_error_set(err, -ENOENT,
                        PROGRAM
                        " is not in /usr/bin, /bin or /usr/local/nvidia/bin; "
                        "yarn.nodemanager.resource-plugins.gpu.path-to-discovery-executables names "
                        "it, allowed-gpu-devices=index:minor,… needs none");
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

static int run_program(const char *path, struct sv_buf *out, struct sv_error *err)
{
    static char *const environment[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL };
    char *argv[] = { (char *)path, "-q", "-x", NULL };
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
        return sv_error_errno(err, -r, "%s -q -x", path);
    if (status != 0)
        return sv_error_set(err, -EIO, "%s -q -x: exit status %d; is the driver loaded?", path,
                            WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}

int nm_gpu_discover(const char *allowed, const char *discovery, uint32_t ret[NM_GPUS_MAX],
                    size_t *ret_n, struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(OUTPUT_MAX);
    char path[PATH_MAX];
    int r;

    *ret_n = 0;
    if (strcmp(allowed, "auto") != 0)
        return parse_allowed(allowed, ret, ret_n, err);
    r = find_program(discovery, path, err);
    if (r >= 0)
        r = run_program(path, &out, err);
    if (r >= 0)
        r = nm_gpu_parse_smi((const char *)out.data, out.len, ret, ret_n, err);
    if (r >= 0 && !*ret_n)
        r = sv_error_set(err, -ENODEV, "%s knows no GPU", path);
    return r;
}
