/* See made.h. Hostile: names, which other realms may have given. */
#include "gss/made.h"

#include <errno.h>
#include <string.h>

#include "gss/protocol.h"
#include "gss/words.h"

void sgss_made_free(struct sgss_made *m)
{
    free(m->token);
    free(m->context);
    free(m->name);
    *m = (struct sgss_made){ 0 };
}

int sgss_made_keep(gss_buffer_t b, size_t max, void **ret, size_t *ret_len)
{
    OM_uint32 minor;
    size_t n = b->length;
    int r = n > max ? -EMSGSIZE : 0;
    char *copy = r < 0 ? NULL : malloc(n + 1);

    if (r == 0 && !copy)
        r = -ENOMEM;
    if (copy) {
        if (n > 0)
            memcpy(copy, b->value, n);
        copy[n] = 0;
        *ret = copy;
        *ret_len = n;
    }
    (void)gss_release_buffer(&minor, b); /* always succeeds */
    return r;
}

int sgss_made_name(struct sgss_made *m, gss_name_t peer, const char *principal,
                   struct sv_error *err)
{
    gss_buffer_desc name = GSS_C_EMPTY_BUFFER;
    OM_uint32 major, minor;
    size_t len = 0;
    int r;

    major = gss_display_name(&minor, peer, &name, NULL);
    if (major != GSS_S_COMPLETE)
        return sgss_gss_error(err, -EIO, major, minor, "%s: name of the peer", principal);
    r = sgss_made_keep(&name, SGSS_NAME_MAX, &m->name, &len);
    if (r < 0 || len == 0 || strlen(m->name) != len)
        return sv_error_set(err, -EACCES, "%s: the client's principal is longer than %d bytes",
                            principal, SGSS_NAME_MAX);
    return 0;
}
