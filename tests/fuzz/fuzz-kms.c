/* Fuzzes what a Key Management Server answers, and the uri that names it. The first byte selects:
 * 'U' a uri, else the length of the key that is wanted, then an answer. */
#include <string.h>

#include "fs/kms-messages.h"
#include "fs/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

/* Each server of an accepted provider has a url that is valid, and leads to it. */
static void uri(const uint8_t *data, size_t size)
{
    const struct hdfs_edek e = { .n = 16, .name = "k", .version = "k@0" };
    struct sv_error err = { 0 };
    struct fs_kms_uri u;
    char text[HDFS_PROVIDER_MAX + 1], url[FS_URL_MAX + 1];
    struct fs_url parsed;

    size = SV_MIN(size, sizeof(text) - 1);
    memcpy(text, data, size);
    text[size] = 0;
    if (fs_kms_uri_parse(text, &u, &err) < 0) {
        MUST(err.text[0]);
        return;
    }
    MUST(u.n > 0 && u.n <= FS_KMS_HOSTS_MAX && u.port > 0);
    for (unsigned i = 0; i < u.n; i++) {
        MUST(fs_kms_url(&u, i, &e, "alice", url) == 0);
        MUST(fs_url_parse(url, &parsed, &err) == 0);
        MUST(strcmp(parsed.host, u.hosts[i]) == 0 && parsed.port == u.port);
        MUST(parsed.scheme == (u.secure ? FS_SCHEME_HTTPS : FS_SCHEME_HTTP));
        MUST(strncmp(parsed.path, u.path, strlen(u.path)) == 0 && strcmp(parsed.name, "_eek") == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t key[HDFS_KEY_MAX + 1];
    size_t want;

    if (size < 1)
        return 0;
    if (data[0] == 'U') {
        uri(data + 1, size - 1);
        return 0;
    }
    want = data[0] % (HDFS_KEY_MAX + 1);
    memset(key, 0xa5, sizeof(key));
    if (fs_kms_answer((const char *)data + 1, size - 1, want, key) < 0)
        want = 0; /* nothing is written */
    for (size_t i = want; i < sizeof(key); i++)
        MUST(key[i] == 0xa5);
    return 0;
}
