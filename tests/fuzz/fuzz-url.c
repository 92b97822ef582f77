/* Fuzzes urls: an accepted one has a clean absolute path, a url made from a file's path names the
 * same file, and one of viewfs: stays below its mount point's target. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fs/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check(const struct fs_url *u)
{
    const char *p = u->path;

    MUST(p[0] == '/' && fs_name_valid(u->name));
    MUST(strcmp(strrchr(p, '/') + 1, u->name) == 0);
    while (*p) {
        size_t n = strcspn(++p, "/");

        MUST(n > 0 && !(n == 1 && p[0] == '.') && !(n == 2 && p[0] == '.' && p[1] == '.'));
        for (size_t i = 0; i < n; i++)
            MUST((unsigned char)p[i] >= 0x20 && p[i] != 0x7f);
        p += n;
    }
    MUST(u->scheme == FS_SCHEME_HDFS || (u->scheme == FS_SCHEME_FILE) == (u->host[0] == 0));
    MUST(!strpbrk(u->host, "@/\\?# %[]"));
}

/* A path through a mount point of viewfs: leads to below its target. */
static void check_mount(const char *text)
{
    static struct sv_conf *conf;
    char url[FS_URL_MAX + 1];
    struct sv_error err = { 0 };
    struct fs_url u;

    if (!conf) {
        conf = sv_conf_new();
        MUST(conf && sv_conf_set(conf, "fs.defaultFS", "viewfs://cl") == 0 &&
             sv_conf_set(conf, "fs.viewfs.mounttable.cl.link./a", "hdfs://one/x/y") == 0 &&
             sv_conf_set(conf, "fs.viewfs.mounttable.cl.link./a/b", "webhdfs://two/z/") == 0);
    }
    if (fs_resolve(conf, text, url, &err) < 0) {
        MUST(err.code < 0 && err.text[0]);
        return;
    }
    if (text[0] != '/') {
        MUST(strncasecmp(text, "viewfs:", 7) == 0 || strcmp(text, url) == 0);
        return;
    }
    if (fs_url_parse(url, &u, &err) < 0)
        return;
    if (u.scheme == FS_SCHEME_HDFS)
        MUST(strcmp(u.host, "one") == 0 && strncmp(u.path, "/x/y", 4) == 0 &&
             (!u.path[4] || u.path[4] == '/'));
    else
        MUST(u.scheme == FS_SCHEME_WEBHDFS && strcmp(u.host, "two") == 0 &&
             strncmp(u.path, "/z/", 3) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), url[FS_URL_MAX + 1];
    struct sv_error err = { 0 };
    struct fs_url u, again;

    MUST(text);
    memcpy(text, data, size);
    text[size] = 0;
    if (fs_url_parse(text, &u, &err) == 0) {
        check(&u);
        if (u.scheme == FS_SCHEME_FILE && fs_url_make("file", NULL, 0, u.path, url) == 0) {
            MUST(fs_url_parse(url, &again, &err) == 0);
            MUST(strcmp(u.path, again.path) == 0);
        }
    } else {
        MUST(err.code < 0 && err.text[0]);
    }
    if (text[0] == '/' && fs_url_make("file", NULL, -1, text, url) == 0 &&
        fs_url_parse(url, &u, &err) == 0)
        check(&u);
    check_mount(text);
    free(text);
    return 0;
}
