/* Our tokens and credentials as bytes, the other half of tests/interop/java/Tokens.java.
 *
 *   token-peer write DIR    the same things with the same values as Hadoop's classes write, each in
 * a file of hexadecimal text, and the Writables of Hadoop before 2.6 token-peer read DIR     prints
 * "NAME key=value..." for each file, as our code understands it */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "wire/token/token.h"
#include "wire/token/writable.h"

#define FILE_MAX 8192

static const struct yarn_master_key key = { .key_id = 77,
                                            .len = 8,
                                            .bytes = { 1, 2, 3, 4, 5, 6, 7, 0x88 } };
static const struct yarn_attempt_id attempt = { .app = { .cluster_ts = 1700000000123, .id = 42 },
                                                .attempt = 3 };
static const char *const algorithms[] = { "HmacSHA1", "HmacSHA224", "HmacSHA256", "HmacSHA384",
                                          "HmacSHA512" };

static void must(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "token-peer: %s\n", what);
        exit(1);
    }
}

/* ---- Writing ---- */

static void file(const char *dir, const char *name, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.hex", dir, name);
    FILE *f = fopen(path, "we");
    must(f, path);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%02x%s", p[i], i % 32 == 31 || i == n - 1 ? "\n" : "");
    must(fclose(f) == 0, path);
}

static void put_utf(struct sv_buf *b, const char *s)
{
    must(sv_buf_put_u16(b, (uint16_t)strlen(s)) >= 0 && sv_buf_put_str(b, s) >= 0, "memory");
}

static void put_attempt(struct sv_buf *b)
{
    must(sv_buf_put_u64(b, (uint64_t)attempt.app.cluster_ts) >= 0 &&
             sv_buf_put_u32(b, (uint32_t)attempt.app.id) >= 0 &&
             sv_buf_put_u32(b, (uint32_t)attempt.attempt) >= 0,
         "memory");
}

/* Writes Hadoop 2.5's format, field by field. */
static void write_old(const char *dir)
{
    struct sv_buf b = SV_BUF_INIT(0);
    put_attempt(&b);
    must(sv_buf_put_u64(&b, (UINT64_C(17) << 40) | 7) >= 0, "memory");
    put_utf(&b, "node1.example.com:8041");
    put_utf(&b, "alice");
    must(sv_buf_put_u32(&b, 2048) >= 0 && sv_buf_put_u32(&b, 3) >= 0 &&
             sv_buf_put_u64(&b, 1700000600000) >= 0 &&
             sv_buf_put_u32(&b, (uint32_t)-123456789) >= 0 &&
             sv_buf_put_u64(&b, 1700000000123) >= 0 && sv_buf_put_u32(&b, 5) >= 0 &&
             sv_buf_put_u64(&b, 1700000000500) >= 0 && sv_buf_put_u32(&b, UINT32_MAX) >= 0,
         "memory");
    file(dir, "container-token-id-old", b.data, b.len);
    b.len = 0;
    put_attempt(&b);
    put_utf(&b, "node1.example.com:8041");
    put_utf(&b, "alice");
    must(sv_buf_put_u32(&b, 77) >= 0, "memory");
    file(dir, "nm-token-id-old", b.data, b.len);
    b.len = 0;
    put_attempt(&b);
    must(sv_buf_put_u32(&b, (uint32_t)-5) >= 0, "memory");
    file(dir, "amrm-token-id-old", b.data, b.len);
    sv_buf_free(&b);
}

static void write_delegation(struct sv_arena *a, const char *dir)
{
    static const struct yarn_delegation_token t = {
        .owner = "alice",
        .renewer = "yarn",
        .real_user = "oozie",
        .issue_ms = 1700000000500,
        .max_ms = 1700604800500,
        .sequence = 1234567,
        .key_id = 89,
    };
    const uint8_t *p;
    size_t n;
    must(yarn_delegation_token_encode(a, &t, &p, &n) >= 0, "delegation");
    file(dir, "rm-delegation-token-id", p, n);
    file(dir, "timeline-delegation-token-id", p, n);
    must(yarn_delegation_token_encode_writable(a, &t, &p, &n) >= 0, "delegation");
    file(dir, "hdfs-delegation-token-id", p, n);
}

static struct yarn_token signed_token(struct sv_arena *a, const char *kind, const char *service,
                                      const uint8_t *id, size_t len)
{
    struct yarn_token t = { .kind = kind, .service = service, .id = id, .id_len = len };
    uint8_t *password = sv_arena_alloc(a, YARN_TOKEN_PASSWORD_MAX);
    must(yarn_token_password(YARN_HMAC_SHA1, &key, id, len, password, &t.password_len) >= 0,
         "password");
    t.password = password;
    return t;
}

static void write_credentials(struct sv_arena *a, const char *dir, const struct yarn_token *nm,
                              const struct yarn_token *am)
{
    struct yarn_credentials c = { 0 };
    struct sv_buf b = SV_BUF_INIT(0);
    uint8_t secret[300];
    for (size_t i = 0; i < sizeof(secret); i++)
        secret[i] = (uint8_t)i;
    must(yarn_credentials_write(&c, &b) >= 0, "credentials");
    file(dir, "credentials-empty", b.data, b.len);
    must(yarn_credentials_add(a, &c, "127.0.0.1:8041", nm) >= 0 &&
             yarn_credentials_add(a, &c, "", am) >= 0 &&
             yarn_credentials_add_secret(a, &c, "MapReduceShuffleToken", secret, sizeof(secret)) >=
                 0 &&
             yarn_credentials_add_secret(a, &c, "empty", "", 0) >= 0,
         "credentials");
    static const char *const names[] = { "credentials-writable", "credentials-protobuf" };
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        b.len = 0;
        must(yarn_credentials_write_as(&c, (enum yarn_credentials_format)i, &b) >= 0, names[i]);
        file(dir, names[i], b.data, b.len);
    }
    sv_buf_free(&b);
}

static void write_ids(struct sv_arena *a, const char *dir)
{
    const struct yarn_container_token c = {
        .container = { .attempt = attempt, .id = (INT64_C(17) << 40) | 7 },
        .nm_addr = "node1.example.com:8041",
        .submitter = "alice",
        .resource = { 2048, 3 },
        .expiry_ms = 1700000600000,
        .key_id = -123456789,
        .rm_identifier = 1700000000123,
        .priority = 5,
        .creation_ms = 1700000000500,
        .container_type = 1,
        .execution_type = 2,
        .version = 1,
        .allocation_request_id = 99,
        .node_label = "gpu",
    };
    const struct yarn_client_am_token client = { .attempt = attempt, .client = "alice" };
    const uint8_t *p;
    size_t n;
    must(yarn_container_token_encode(a, &c, &p, &n) >= 0, "container token");
    file(dir, "container-token-id", p, n);
    must(yarn_client_am_token_encode(a, &client, &p, &n) >= 0, "client token");
    file(dir, "client-am-token-id", p, n);
    write_delegation(a, dir);
    write_old(dir);
}

static int write_all(const char *dir)
{
    const struct yarn_nm_token nm = { .attempt = attempt,
                                      .submitter = "alice",
                                      .key_id = 77,
                                      .node = { .host = "node1.example.com", .port = 8041 } };
    const struct yarn_amrm_token am = { .attempt = attempt, .key_id = -5 };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    const uint8_t *nm_id, *am_id;
    const char *text;
    size_t nm_len = 0, am_len = 0;
    must(yarn_nm_token_encode(a, &nm, &nm_id, &nm_len) >= 0 &&
             yarn_amrm_token_encode(a, &am, &am_id, &am_len) >= 0,
         "identifiers");
    file(dir, "nm-token-id", nm_id, nm_len);
    file(dir, "amrm-token-id", am_id, am_len);
    write_ids(a, dir);
    for (size_t i = 0; i < SV_ARRAY_LEN(algorithms); i++) {
        uint8_t password[YARN_TOKEN_PASSWORD_MAX];
        enum yarn_hmac hmac;
        char name[64];
        size_t n = 0;
        must(yarn_hmac_parse(algorithms[i], &hmac) >= 0 &&
                 yarn_token_password(hmac, &key, nm_id, nm_len, password, &n) >= 0,
             algorithms[i]);
        snprintf(name, sizeof(name), "nm-token-password-%s", algorithms[i]);
        file(dir, name, password, n);
    }
    struct yarn_token one = signed_token(a, YARN_KIND_NM, "127.0.0.1:8041", nm_id, nm_len);
    struct yarn_token two = signed_token(a, YARN_KIND_AMRM, "h\xc3\xa4st:8030", am_id, am_len);
    must(ipc_writable_put_token(&b, &one) >= 0 && yarn_token_text(a, &one, &text) >= 0, "token");
    file(dir, "token-writable", b.data, b.len);
    file(dir, "token-text", text, strlen(text));
    write_credentials(a, dir, &one, &two);
    return 0;
}

/* ---- Reading ---- */

static void hex(const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%02x", ((const uint8_t *)bytes)[i]);
}

static void token(const struct yarn_token *t)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    must(ipc_writable_put_token(&b, t) >= 0, "memory");
    hex(b.data, b.len);
}

static int read_container(const uint8_t *p, size_t n)
{
    static const char *const types[] = { "?", "APPLICATION_MASTER", "TASK" };
    static const char *const executions[] = { "?", "GUARANTEED", "OPPORTUNISTIC" };
    struct yarn_container_token t;
    char id[YARN_ID_TEXT_MAX];
    int r = yarn_container_token_decode(p, n, &t, NULL);
    if (r < 0)
        return r;
    printf(
        " container=%s node=%s user=%s memory=%jd vcores=%d expiry=%jd key=%d rm=%jd priority=%d "
        "created=%jd type=%s execution=%s version=%d request=%jd label=%s",
        yarn_container_id_text(t.container, id), t.nm_addr, t.submitter,
        (intmax_t)t.resource.memory_mb, t.resource.vcores, (intmax_t)t.expiry_ms, t.key_id,
        (intmax_t)t.rm_identifier, t.priority, (intmax_t)t.creation_ms, types[t.container_type],
        executions[t.execution_type], t.version, (intmax_t)t.allocation_request_id, t.node_label);
    return 0;
}

static int read_nm(const uint8_t *p, size_t n)
{
    struct yarn_nm_token t;
    char id[YARN_ID_TEXT_MAX], node[264];
    int r = yarn_nm_token_decode(p, n, &t, NULL);
    if (r >= 0)
        printf(" attempt=%s node=%s user=%s key=%d", yarn_attempt_id_text(t.attempt, id),
               yarn_node_id_text(&t.node, node), t.submitter, t.key_id);
    return r;
}

static int read_amrm(const uint8_t *p, size_t n)
{
    struct yarn_amrm_token t;
    char id[YARN_ID_TEXT_MAX];
    int r = yarn_amrm_token_decode(p, n, &t, NULL);
    if (r >= 0)
        printf(" attempt=%s key=%d", yarn_attempt_id_text(t.attempt, id), t.key_id);
    return r;
}

static int read_client(const uint8_t *p, size_t n)
{
    struct yarn_client_am_token t;
    char id[YARN_ID_TEXT_MAX];
    int r = yarn_client_am_token_decode(p, n, &t, NULL);
    if (r >= 0)
        printf(" attempt=%s user=%s", yarn_attempt_id_text(t.attempt, id), t.client);
    return r;
}

static int read_delegation(const uint8_t *p, size_t n)
{
    struct yarn_delegation_token t;
    int r = yarn_delegation_token_decode(p, n, &t, NULL);
    if (r >= 0)
        printf(" owner=%s renewer=%s real=%s issued=%jd max=%jd sequence=%d key=%d", t.owner,
               t.renewer, t.real_user, (intmax_t)t.issue_ms, (intmax_t)t.max_ms, t.sequence,
               t.key_id);
    return r;
}

static int read_credentials(const uint8_t *p, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials c;
    int r = yarn_credentials_parse(p, n, a, &c, NULL);
    for (size_t i = 0; r >= 0 && i < c.n_tokens; i++) {
        printf(" t:");
        hex(c.tokens[i].alias, strlen(c.tokens[i].alias));
        printf("=");
        token(&c.tokens[i].token);
    }
    for (size_t i = 0; r >= 0 && i < c.n_secrets; i++) {
        printf(" s:");
        hex(c.secrets[i].alias, strlen(c.secrets[i].alias));
        printf("=");
        hex(c.secrets[i].secret, c.secrets[i].len);
    }
    return r;
}

static int read_token(const uint8_t *p, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_buf b = SV_BUF_VIEW(p, n);
    struct yarn_token t;
    int r = ipc_writable_get_token(&b, a, &t);
    if (r >= 0) {
        printf(" token=");
        token(&t);
    }
    return r;
}

static int read_text(const uint8_t *p, size_t n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    char *text = sv_arena_alloc(a, n + 1);
    struct yarn_token t;
    memcpy(text, p, n);
    int r = yarn_token_parse(a, text, &t);
    if (r >= 0) {
        printf(" token=");
        token(&t);
    }
    return r;
}

static int read_bytes(const uint8_t *p, size_t n)
{
    printf(" bytes=");
    hex(p, n);
    return 0;
}

static const struct {
    const char *prefix;
    int (*read)(const uint8_t *p, size_t n);
} readers[] = {
    { "container-token-id", read_container },
    { "nm-token-id", read_nm },
    { "amrm-token-id", read_amrm },
    { "client-am-token-id", read_client },
    { "rm-delegation", read_delegation },
    { "timeline-delegation", read_delegation },
    { "hdfs-delegation", read_delegation },
    { "credentials", read_credentials },
    { "token-writable", read_token },
    { "token-text", read_text },
    { "", read_bytes },
};

static void read_file(const char *dir, const char *name)
{
    uint8_t bytes[FILE_MAX];
    char path[512];
    size_t n = 0, i = 0;
    unsigned byte;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "re");
    must(f, path);
    while (n < sizeof(bytes) && fscanf(f, "%2x", &byte) == 1)
        bytes[n++] = (uint8_t)byte;
    fclose(f);
    while (strncmp(name, readers[i].prefix, strlen(readers[i].prefix)) != 0)
        i++;
    printf("%.*s", (int)(strlen(name) - strlen(".hex")), name);
    if (readers[i].read(bytes, n) < 0)
        printf(" unreadable=");
    printf("\n");
}

static int read_all(const char *dir)
{
    struct dirent **list;
    int n = scandir(dir, &list, NULL, alphasort);
    must(n >= 0, dir);
    for (int i = 0; i < n; i++) {
        if (strstr(list[i]->d_name, ".hex"))
            read_file(dir, list[i]->d_name);
        free(list[i]);
    }
    free(list);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "write") == 0)
        return write_all(argv[2]);
    if (argc == 3 && strcmp(argv[1], "read") == 0)
        return read_all(argv[2]);
    fprintf(stderr, "usage: token-peer write|read DIR\n");
    return 2;
}
