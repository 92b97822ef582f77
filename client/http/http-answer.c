/* See http-answer.h. */
#include "client/http/http-answer.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

#define LENGTH_MAX ((uint64_t)1 << 40)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "HTTP/1.1 200 OK" */
static int status_line(const char *line, size_t len, int *ret)
{
    if (len < strlen("HTTP/1.0 200") || strncmp(line, "HTTP/1.", 7) != 0 || !is_digit(line[7]) ||
        line[8] != ' ' || line[9] < '1' || line[9] > '5' || !is_digit(line[10]) ||
        !is_digit(line[11]) || (len > 12 && line[12] != ' '))
        return -EPROTO;
    *ret = 100 * (line[9] - '0') + 10 * (line[10] - '0') + line[11] - '0';
    return 0;
}

/* What the value of the header `name` is, without blanks around it; NULL: another header. */
static const char *value_of(const char *line, size_t len, const char *name, size_t *ret_len)
{
    size_t n = strlen(name);

    if (len <= n || line[n] != ':' || strncasecmp(line, name, n) != 0)
        return NULL;
    for (line += n + 1, len -= n + 1; len && (*line == ' ' || *line == '\t'); line++)
        len--;
    while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    *ret_len = len;
    return line;
}

static int header(const char *line, size_t len, struct cli_http_answer *a)
{
    char text[24];
    uint64_t n;
    size_t size;
    const char *value = value_of(line, len, "Content-Length", &size);

    if (value) {
        if (size == 0 || size >= sizeof(text))
            return -EPROTO;
        memcpy(text, value, size);
        text[size] = '\0';
        if (strlen(text) != size || sv_parse_u64(text, 0, LENGTH_MAX, &n) < 0 ||
            (a->announced >= 0 && a->announced != (int64_t)n))
            return -EPROTO;
        a->announced = (int64_t)n;
        return 0;
    }
    value = value_of(line, len, "Transfer-Encoding", &size);
    if (!value)
        value = value_of(line, len, "Content-Encoding", &size);
    return value && (size != strlen("identity") || strncasecmp(value, "identity", size) != 0)
               ? -EPROTO
               : 0;
}

/* Lines end in CR LF, or in LF alone. */
static int lines(const char *data, size_t len, struct cli_http_answer *a)
{
    size_t at = 0;

    for (int number = 0;; number++) {
        const char *line = data + at, *end = memchr(line, '\n', len - at);
        size_t size = end ? (size_t)(end - line) : 0;
        int r = 0;

        if (!end)
            return len >= CLI_HTTP_HEAD_MAX ? -EPROTO : -EAGAIN;
        at += size + 1;
        if (size && line[size - 1] == '\r')
            size--;
        if (number == 0)
            r = status_line(line, size, &a->status);
        else if (size > 0)
            r = header(line, size, a);
        if (r < 0)
            return r;
        if (number > 0 && size == 0)
            break;
    }
    a->head = at;
    return 0;
}

int cli_http_answer(const char *data, size_t len, struct cli_http_answer *ret)
{
    struct cli_http_answer a = { .announced = -1 };
    int r = lines(data, SV_MIN(len, (size_t)CLI_HTTP_HEAD_MAX), &a);

    if (r < 0)
        return r;
    *ret = a;
    return 0;
}
