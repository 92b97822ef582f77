/* Fuzzes urls: an accepted one has a clean absolute path, and a url made from a file's path names
 * the same file. */
#include <stdlib.h>
#include <string.h>

#include "fs/url.h"

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
    free(text);
    return 0;
}
