/* libFuzzer target: frames of a WebSocket's peer, and the messages of a session in them. First
 * byte: bit 0, a client's (masked) frames; bits 1-2, how many bytes come at a time. What is read is
 * bounded, does not depend on how the bytes arrived, and is written again as a frame that is read
 * as the same. */
#include <stdlib.h>
#include <string.h>

#include "common/web/exec-words.h"
#include "common/web/websocket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

struct sum {
    size_t frames, bytes;
    uint32_t hash;
    int end;
};

static void count(struct sum *s, const struct sv_ws_frame *f)
{
    s->frames++;
    s->bytes += f->len;
    for (size_t i = 0; i < f->len; i++)
        s->hash = s->hash * 31 + f->data[i];
    s->hash = s->hash * 31 + (uint32_t)f->opcode * 4 + (f->first ? 2 : 0) + (f->last ? 1 : 0);
}

static void write_again(const struct sv_ws_frame *f)
{
    static const uint8_t mask[] = { 1, 2, 3, 4 };
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(SV_WS_FRAME_MAX + SV_WS_HEAD_MAX);
    struct sv_ws_reader r = { .masked = true };
    struct sv_ws_frame again;

    MUST(sv_ws_put(&b, f->opcode, mask, f->data, f->len) == 0);
    MUST(sv_ws_read(&r, &b, &again) == 1 && sv_buf_left(&b) == 0);
    MUST(again.opcode == f->opcode && again.len == f->len && again.first && again.last);
    MUST(f->len == 0 || memcmp(again.data, f->data, f->len) == 0);
}

static void read_start(const uint8_t *data, size_t n)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(SV_WS_FRAME_MAX);
    struct sv_exec_start s, again;

    if (sv_exec_read_start(data, n, &s) < 0)
        return;
    MUST(s.arguments[0] && *s.arguments[0]);
    if (sv_exec_put_start(&b, &s) < 0) /* larger than ours are */
        return;
    MUST(b.len == n + 1 && memcmp(b.data + 1, data, n) == 0);
    MUST(sv_exec_read_start(b.data + 1, b.len - 1, &again) == 0);
}

static void read_message(const struct sv_ws_frame *f)
{
    struct sv_exec_end e;
    uint16_t rows, columns;

    if (f->len == 0)
        return;
    read_start(f->data + 1, f->len - 1);
    MUST(sv_exec_read_size(f->data + 1, f->len - 1, &rows, &columns) < 0 || f->len == 5);
    if (sv_exec_read_end(f->data + 1, f->len - 1, &e) == 0)
        MUST(!strpbrk(e.text, "\033\r\n") && strlen(e.text) < SV_EXEC_TEXT_MAX);
}

static struct sum read_all(bool masked, const uint8_t *data, size_t size, size_t step)
{
    _cleanup_buf_ struct sv_buf in = SV_BUF_INIT(size + 1);
    struct sv_ws_reader r = { .masked = masked };
    struct sv_ws_frame f;
    struct sum s = { .end = 0 };

    for (size_t at = 0; at < size && s.end >= 0; at += step) {
        MUST(sv_buf_put(&in, data + at, SV_MIN(step, size - at)) == 0);
        while ((s.end = sv_ws_read(&r, &in, &f)) == 1) {
            MUST(f.len <= SV_WS_FRAME_MAX && f.data >= in.data &&
                 f.data + f.len <= in.data + in.len);
            MUST(f.opcode != SV_WS_CONTINUATION);
            count(&s, &f);
            write_again(&f);
            read_message(&f);
        }
    }
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const bool masked = data[0] & 1;
    struct sum whole = read_all(masked, data + 1, size - 1, size);
    struct sum parts = read_all(masked, data + 1, size - 1, 1 + (data[0] >> 1 & 3));

    MUST(whole.frames == parts.frames && whole.bytes == parts.bytes && whole.hash == parts.hash);
    return 0;
}
