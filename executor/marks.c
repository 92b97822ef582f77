/* See marks.h. As Hadoop's ContainerLaunch.expandEnvironment: plain replacement everywhere in the
 * text, regardless of quotes. */
#include "executor/marks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/buf.h"
#include "common/fd.h"
#include "common/str.h"
#include "executor/script.h"

#define ADD_OPENS_17                                                                               \
    "--add-opens=java.base/java.lang=ALL-UNNAMED --add-exports=java.base/sun.net.dns=ALL-UNNAMED " \
    "--add-exports=java.base/sun.net.util=ALL-UNNAMED"
#define JAVA_CACHE 16

const char *exe_expand_marks(struct sv_arena *a, const struct exe_marks *m, const char *s)
{
    const struct {
        const char *mark, *text;
    } marks[] = {
        { "<LOG_DIR>", m->log_dir },
        { "<CPS>", ":" },
        { "<ADD_OPENS>", m->add_opens ? m->add_opens : "" },
        { "{{", "$" },
        { "}}", "" },
    };
    struct sv_buf out = SV_BUF_INIT(4 * EXE_SCRIPT_COMMAND_MAX);
    const char *result = NULL;
    int r = 0;
    while (r == 0 && *s) {
        size_t i = 0, n = strcspn(s, "<{}");
        r = sv_buf_put(&out, s, n);
        s += n;
        if (r < 0 || !*s)
            break;
        while (i < SV_ARRAY_LEN(marks) && !sv_has_prefix(s, marks[i].mark))
            i++;
        if (i < SV_ARRAY_LEN(marks)) {
            r = sv_buf_put_str(&out, marks[i].text);
            s += strlen(marks[i].mark);
        } else {
            r = sv_buf_put_u8(&out, (uint8_t)*s++);
        }
    }
    r = r < 0 ? r : sv_buf_put_u8(&out, 0);
    if (r == 0)
        result = sv_arena_memdup(a, out.data, out.len);
    sv_buf_free(&out);
    return result;
}

/* Major version in JAVA_VERSION="17.0.1" (or "1.8.0_392"); 0 if there is none. */
static unsigned major_version(const char *release)
{
    const char *s =
        sv_has_prefix(release, "JAVA_VERSION=\"") ? release : strstr(release, "\nJAVA_VERSION=\"");
    unsigned v = 0;
    if (!s)
        return 0;
    for (s = strchr(s, '"') + 1; *s >= '0' && *s <= '9' && v < 1000; s++)
        v = v * 10 + (unsigned)(*s - '0');
    return v;
}

const char *exe_add_opens(const char *java_home)
{
    static struct {
        char *path;
        struct timespec mtime;
        ino_t ino;
        bool opens;
    } cache[JAVA_CACHE];
    static unsigned next;
    _cleanup_free_ char *path = NULL, *text = NULL;
    struct stat st;
    size_t len;
    if (!java_home || java_home[0] != '/' || sv_asprintf(&path, "%s/release", java_home) < 0 ||
        stat(path, &st) < 0)
        return "";
    unsigned i = 0;
    while (i < JAVA_CACHE && !sv_streq(cache[i].path, path))
        i++;
    if (i < JAVA_CACHE && cache[i].ino == st.st_ino && cache[i].mtime.tv_sec == st.st_mtim.tv_sec &&
        cache[i].mtime.tv_nsec == st.st_mtim.tv_nsec)
        return cache[i].opens ? ADD_OPENS_17 : "";
    if (!S_ISREG(st.st_mode) || sv_read_file_at(AT_FDCWD, path, 65536, &text, &len) < 0)
        return "";
    if (i == JAVA_CACHE)
        i = next++ % JAVA_CACHE;
    bool opens = major_version(text) >= 17;
    free(cache[i].path);
    cache[i].path = SV_TAKE(path);
    cache[i].mtime = st.st_mtim;
    cache[i].ino = st.st_ino;
    cache[i].opens = opens;
    return opens ? ADD_OPENS_17 : "";
}
