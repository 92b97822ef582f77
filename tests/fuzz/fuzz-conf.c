/* Fuzzes the configuration: any bytes as a file, then every key read in every type. */
#include <stdlib.h>
#include <string.h>

#include "common/conf.h"
#include "common/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_all(const char *name, const char *value, void *userdata)
{
    struct sv_conf *c = userdata;
    struct sv_conf_key k = { .name = name, .def = "h:1" };
    _cleanup_strv_ char **list = NULL;
    struct sv_error err;
    const char *s;
    uint16_t port;
    int64_t i;
    uint64_t u;
    double f;
    bool b;

    (void)value;
    if (sv_conf_string(c, &k, &s, &err) < 0 && !strchr(value, '$'))
        abort(); /* only variables can invalidate a text */
    (void)!sv_conf_bool(c, &k, &b, &err);
    (void)!sv_conf_int(c, &k, &i, &err);
    (void)!sv_conf_float(c, &k, &f, &err);
    (void)!sv_conf_duration_ms(c, &k, &i, &err);
    (void)!sv_conf_size(c, &k, &u, &err);
    (void)!sv_conf_list(c, &k, &list, &err);
    (void)!sv_conf_address(c, &k, &s, &port, &err);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv_conf *c = sv_conf_new();
    struct sv_error err = { 0 };
    int r;

    if (!c)
        return 0;
    r = sv_conf_load_string(c, (const char *)data, size, "fuzz.xml", &err);
    if (r < 0 && (err.code != r || strncmp(err.text, "fuzz.xml:", 9) != 0))
        abort(); /* every error names its place */
    (void)!sv_conf_each(c, read_all, c);
    (void)sv_conf_free(c);
    return 0;
}
