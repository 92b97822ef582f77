/* See inflate.h: by ISA-L, which looks at the processor once to choose its routines and makes no
 * system call. */
#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <limits.h>
#include <stdlib.h>

#include "localizer/inflate.h"

struct loc_inflate {
    struct inflate_state state;
};

struct loc_inflate *loc_inflate_new(void)
{
    return calloc(1, sizeof(struct loc_inflate));
}

void loc_inflate_free(struct loc_inflate *z)
{
    free(z);
}

int loc_inflate_begin(struct loc_inflate *z)
{
    isal_inflate_init(&z->state);
    z->state.crc_flag = ISAL_GZIP_NO_HDR_VER;
    return 0;
}

int loc_inflate_run(struct loc_inflate *z, const uint8_t **in, size_t *in_len, uint8_t **out,
                    size_t *out_len)
{
    struct inflate_state *s = &z->state;
    uint32_t had_in = (uint32_t)SV_MIN(*in_len, (size_t)INT_MAX);
    uint32_t had_out = (uint32_t)SV_MIN(*out_len, (size_t)INT_MAX);
    int r;

    s->next_in = (uint8_t *)(uintptr_t)*in;
    s->avail_in = had_in;
    s->next_out = *out;
    s->avail_out = had_out;
    r = isal_inflate(s);
    *in_len -= had_in - s->avail_in;
    *in = s->next_in;
    *out_len -= had_out - s->avail_out;
    *out = s->next_out;
    if (r != ISAL_DECOMP_OK)
        return -EBADMSG;
    return s->block_state == ISAL_BLOCK_FINISH;
}
