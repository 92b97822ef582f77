/* log-uploader: writes the logs of an application's containers into one file of the remote log
 * directory, as the job's account, inside the sandbox that container-executor created.
 *
 * Inherits the channel and the application's log directories as descriptors (executor/request.h);
 * takes no arguments and reads no environment. Serves one request with one answer
 * (upload-request.h), and ends when the channel closes. Trusts the NodeManager; the logs and the
 * file system are hostile. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/worker-sandbox.h"
#include "executor/request.h"
#include "logs/upload-files.h"
#include "logs/upload-rolling.h"
#include "logs/upload-store.h"

#define CHANNEL EXE_LOCALIZER_CHANNEL_FD
#define ATTEMPTS_MAX 3
#define FILE_SIZE_MAX (1ull << 60)

/* ---- The request ---- */

#define DESCRIPTORS_MAX 3

static int receive_descriptors(int ret[DESCRIPTORS_MAX])
{
    char byte, control[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))] = { 0 };
    struct iovec v = { &byte, 1 };
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
    };
    const struct cmsghdr *c;
    ssize_t n;

    do
        n = recvmsg(CHANNEL, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        return n < 0 ? -errno : -ECONNRESET;
    c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS || m.msg_flags & MSG_CTRUNC)
        return -EBADMSG;
    memcpy(ret, CMSG_DATA(c), SV_MIN(c->cmsg_len - CMSG_LEN(0), DESCRIPTORS_MAX * sizeof(int)));
    return 0;
}

static int receive_request(struct logs_upload *ret, struct logs_given *ret_given)
{
    _cleanup_close_ int request = -1, second = -1, third = -1;
    uint8_t *bytes;
    int fds[DESCRIPTORS_MAX] = { -1, -1, -1 }, r = receive_descriptors(fds);
    struct stat st;

    if (r < 0)
        return r;
    request = fds[0];
    second = fds[1];
    third = fds[2];
    if (fstat(request, &st) < 0 || st.st_size < 0 || st.st_size > LOGS_UPLOAD_MAX)
        return -EBADMSG;
    bytes = malloc((size_t)st.st_size + 1);
    if (!bytes)
        return -ENOMEM;
    if (pread(request, bytes, (size_t)st.st_size, 0) != st.st_size) {
        free(bytes);
        return -EIO;
    }
    r = logs_upload_parse(bytes, (size_t)st.st_size, ret); /* takes ownership of the bytes */
    if (r < 0)
        return r;
    if (ret->has_credentials && second < 0) {
        logs_upload_clear(ret);
        return -EBADMSG;
    }
    if (ret->has_credentials)
        ret_given->credentials = sv_take_fd(&second);
    ret_given->root = sv_take_fd(ret->has_credentials ? &third : &second);
    return 0;
}

static size_t log_dirs(int ret[EXE_DIRS_MAX])
{
    size_t n = 0;

    for (int i = 0; i < EXE_DIRS_MAX; i++)
        if (fcntl(EXE_LOCALIZER_CACHE_FD(i), F_GETFD) >= 0)
            ret[n++] = EXE_LOCALIZER_CACHE_FD(i);
    return n;
}

/* ---- The upload ---- */

static int write_all(struct logs_store *s, struct logs_files *files, struct logs_rolling *rolling,
                     struct logs_answer *a, struct sv_error *err)
{
    _cleanup_(logs_writer_freep) struct logs_writer *w = NULL;
    const struct logs_sink sink = { logs_store_write, s };
    struct logs_acl acls[LOGS_UPLOAD_ACLS_MAX];
    int r;

    for (size_t i = 0; i < s->u->n_acls; i++)
        acls[i] = (struct logs_acl){ s->u->acls[i].right, s->u->acls[i].list };
    a->files = a->skipped = 0;
    a->bytes = 0;
    err->text[0] = 0;
    logs_rolling_again(rolling);
    r = logs_store_begin(s, err);
    if (r == 0)
        r = logs_writer_new(&sink, s->u->codec, s->u->text[LOGS_USER], acls, s->u->n_acls, &w);
    if (r == 0)
        r = logs_files_write(files, rolling, w, a);
    if (r == 0)
        r = logs_writer_finish(w);
    if (r < 0 && !err->text[0])
        (void)sv_error_errno(err, r, "aggregated logs");
    return r;
}

/* Renames the file to its final name. If the rename's answer was lost, the file may exist already:
 * the name is unique to this upload, so its existence proves success, and a retry must not replace
 * it with fewer logs. */
static int publish(struct logs_store *s, struct logs_rolling *rolling, struct sv_error *err)
{
    struct sv_error ignored = { 0 };
    int r = logs_rolling_announce(rolling, s, err);

    if (r == 0)
        r = logs_store_publish(s, err);
    return r < 0 && s->u->app_runs && logs_store_exists(s, s->name, &ignored) == 1 ? 0 : r;
}

/* Retries write the whole file again. */
static int upload_files(struct logs_store *s, struct logs_files *files,
                        struct logs_rolling *rolling, struct logs_answer *a, struct sv_error *err)
{
    int r = -EIO;

    for (int i = 0; r < 0 && i < ATTEMPTS_MAX; i++) {
        r = write_all(s, files, rolling, a, err);
        if (r == 0 && a->files == 0) {
            logs_store_discard(s);
            return 0;
        }
        if (r == 0)
            r = publish(s, rolling, err);
        if (r < 0 && !fs_cause_retry(fs_cause(r)))
            break;
        if (r < 0)
            sv_log_info("%s: %s", s->u->text[LOGS_APP], err->text);
    }
    if (r < 0)
        logs_store_discard(s);
    return r;
}

/* Completed uploads are kept if this part fails. */
static void finish_rolling(struct logs_store *s, struct logs_rolling *rolling)
{
    struct sv_error err = { 0 };

    if (logs_rolling_done(rolling, &err) < 0)
        sv_log_warning("%s: list of uploaded logs: %s; the next upload retries",
                       s->u->text[LOGS_APP], err.text);
    if (*s->u->text[LOGS_ROLLED_INCLUDE] && s->u->files_max > 0)
        logs_rolling_remove_oldest(s);
}

static void fail(struct logs_answer *a, bool again, const struct sv_error *err)
{
    a->outcome = again ? LOGS_FAILED : LOGS_REFUSED;
    (void)snprintf(a->text, LOGS_UPLOAD_TEXT_MAX, "%.399s", err->text);
}

static void upload(const struct logs_upload *u, const struct logs_given *given,
                   struct logs_answer *a)
{
    _cleanup_(logs_files_freep) struct logs_files *files = NULL;
    struct sv_error err = { 0 };
    struct logs_store s = { .err = &err, .pace = { .channel = CHANNEL, .rate = u->rate } };
    struct logs_rolling rolling = { .u = u };
    int dirs[EXE_DIRS_MAX], r;
    size_t n = log_dirs(dirs);

    r = logs_files_new(u, dirs, n, &files, &err);
    if (r < 0) {
        fail(a, false, &err);
        return;
    }
    r = logs_store_open(&s, u, given, a->text, &err);
    if (r == 0)
        r = logs_rolling_start(&rolling, &s, dirs, n, a->text, &err);
    if (r == 0)
        r = upload_files(&s, files, &rolling, a, &err);
    if (r == 0 && a->files > 0)
        finish_rolling(&s, &rolling);
    if (r < 0)
        fail(a, fs_cause_retry(fs_cause(r)), &err);
    else
        a->outcome = a->files > 0 ? LOGS_DONE : LOGS_NOTHING;
    logs_rolling_end(&rolling);
    logs_store_close(&s);
}

static int check_start(struct sv_error *err)
{
    int type = 0;
    socklen_t n = sizeof(type);

    if (getuid() == 0 || geteuid() == 0)
        return sv_error_set(err, -EPERM, "log-uploader: must not run as root");
    if (getsockopt(CHANNEL, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_SEQPACKET)
        return sv_error_set(err, -ENOTSOCK,
                            "log-uploader: descriptor %d is not the NodeManager's channel; this "
                            "program is started by the NodeManager only",
                            CHANNEL);
    return sv_sandbox_program(err);
}

/* Landlock: allows writes beneath the remote directory of this machine and, if uploaded logs are
 * deleted, in the log directories; these are mounted read-only otherwise. */
static int enter_sandbox(const struct logs_upload *u, int root, struct sv_error *err)
{
    int targets[EXE_DIRS_MAX + 1] = { EXE_LOCALIZER_CACHE_FD(0) };
    size_t n = 1;

    if (u->app_runs)
        n = log_dirs(targets);
    else if (root >= 0)
        n = 0;
    if (root >= 0)
        targets[n++] = root;
    return sv_sandbox_upload(targets, n, FILE_SIZE_MAX, getppid(), err);
}

int main(void)
{
    struct logs_answer answer = { 0 };
    struct logs_upload u = { 0 };
    struct sv_error err = { 0 };
    struct logs_given given = { -1, -1 };
    int r;

    clearenv();
    sv_log_init("log-uploader");
    (void)signal(SIGPIPE, SIG_IGN);
    r = check_start(&err);
    if (r == 0) {
        r = receive_request(&u, &given);
        if (r < 0)
            (void)sv_error_errno(&err, r, "log-uploader: request");
    }
    if (r == 0)
        r = enter_sandbox(&u, given.root, &err);
    if (r < 0) {
        sv_log_err("%s", err.text);
        return 1;
    }
    upload(&u, &given, &answer);
    sv_close(given.credentials);
    sv_close(given.root);
    logs_upload_clear(&u);
    return send(CHANNEL, &answer, sizeof(answer), MSG_NOSIGNAL) == (ssize_t)sizeof(answer) ? 0 : 1;
}
