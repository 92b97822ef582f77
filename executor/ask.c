/* The daemon's half of request.h: asking, and reading what the helper and the monitor answer. Not part of
 * the helper. Hostile input: the record, which lies on a disk. */
#include <errno.h>
#include <string.h>

#include "executor/request.h"

#define STATUS_TEXT(number, name, text)                                                            \
    case number:                                                                                   \
        return text;
const char *exe_status_text(int status)
{
    switch (status) {
        EXE_STATUS_LIST(STATUS_TEXT)
    default:
        return "unknown status";
    }
}

int exe_request_encode(const struct exe_request *r, uint8_t *buf, size_t size)
{
    struct exe_request out = *r;
    if (size < sizeof(out) || !exe_request_ok(r))
        return -EINVAL;
    out.magic = EXE_REQUEST_MAGIC;
    out.version = EXE_PROTOCOL_VERSION;
    memcpy(buf, &out, sizeof(out));
    return (int)sizeof(out);
}

int exe_reply_decode(const uint8_t *buf, size_t len, struct exe_reply *ret)
{
    struct exe_reply_head h;
    if (len < sizeof(h))
        return -EBADMSG;
    memcpy(&h, buf, sizeof(h));
    if (h.magic != EXE_REPLY_MAGIC)
        return -EBADMSG;
    if (h.version != EXE_PROTOCOL_VERSION)
        return -EPROTONOSUPPORT;
    if (len != sizeof(h) + h.text_len)
        return -EBADMSG;
    *ret = (struct exe_reply){ .status = h.status, .error = h.error, .request_id = h.request_id,
                               .pid = h.pid, .text = (const char *)buf + sizeof(h),
                               .text_len = h.text_len };
    return 0;
}

int exe_record_decode(const uint8_t *buf, size_t len, struct exe_record *ret)
{
    struct exe_record r;
    if (len != sizeof(r))
        return -EBADMSG;
    memcpy(&r, buf, sizeof(r));
    if (r.magic != EXE_RECORD_MAGIC || r.version != EXE_RECORD_VERSION ||
        r.crc != exe_crc32(&r, offsetof(struct exe_record, crc)) || r.state < EXE_RECORD_RUNNING ||
        r.state > EXE_RECORD_FAILED)
        return -EBADMSG;
    *ret = r;
    return 0;
}
