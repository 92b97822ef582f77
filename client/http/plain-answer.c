/* See plain-answer.h. Hostile: the answer. What is not understood to the last byte of its head is
 * left to libcurl, so nothing is repaired here. */
#include "client/http/plain-answer.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#define STATUS_LINE "HTTP/1.x 200"
#define NO_LENGTH UINT64_MAX

/* "HTTP/1.0 200" or 1.1, then a space or the end of the line. -EPROTO. */
static int status_of(const char *line, size_t len)
{
    int status = 0;

    if (len < strlen(STATUS_LINE) || memcmp(line, "HTTP/1.", 7) != 0 ||
        (line[7] != '0' && line[7] != '1') || line[8] != ' ' ||
        (len > strlen(STATUS_LINE) && line[12] != ' '))
        return -EPROTO;
    for (int i = 9; i < 12; i++) {
        if (line[i] < '0' || line[i] > '9')
            return -EPROTO;
        status = 10 * status + (line[i] - '0');
    }
    return status >= 200 && status <= 599 && status != 204 && status != 304 ? status : -EPROTO;
}

static bool is_named(const char *line, size_t name, const char *wanted)
{
    return name == strlen(wanted) && strncasecmp(line, wanted, name) == 0;
}

/* The decimal digits of a Content-Length, with blanks around them. */
static int length_of(const char *value, size_t len, uint64_t *ret)
{
    uint64_t n = 0;

    while (len > 0 && (*value == ' ' || *value == '\t')) {
        value++;
        len--;
    }
    while (len > 0 && (value[len - 1] == ' ' || value[len - 1] == '\t'))
        len--;
    if (len == 0 || len > 9) /* the sum cannot overflow */
        return -EPROTO;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9')
            return -EPROTO;
        n = 10 * n + (uint64_t)(value[i] - '0');
    }
    *ret = n;
    return 0;
}

/* One header. `*length` is NO_LENGTH before Content-Length. */
static int header(const char *line, size_t len, uint64_t *length)
{
    const char *colon = memchr(line, ':', len);
    size_t name = colon ? (size_t)(colon - line) : 0;

    if (name == 0 || *line == ' ' || *line == '\t' || colon[-1] == ' ' || colon[-1] == '\t')
        return -EPROTO;
    if (is_named(line, name, "Transfer-Encoding") || is_named(line, name, "Content-Encoding"))
        return -EPROTO;
    if (!is_named(line, name, "Content-Length"))
        return 0;
    return *length == NO_LENGTH ? length_of(colon + 1, len - name - 1, length) : -EPROTO;
}

/* Reads the head's lines, each with its end. */
static int head(const char *data, size_t len, int *ret_status, uint64_t *ret_length)
{
    const char *line = data, *end;

    *ret_length = NO_LENGTH;
    for (size_t left = len; left > 0; left = len - (size_t)(line - data)) {
        size_t n;
        int r;

        end = memmem(line, left, "\r\n", 2);
        if (!end)
            return -EPROTO;
        n = (size_t)(end - line);
        if (memchr(line, '\n', n) || memchr(line, '\r', n) || memchr(line, '\0', n))
            return -EPROTO;
        r = line == data ? status_of(line, n) : header(line, n, ret_length);
        if (r < 0)
            return r;
        if (line == data)
            *ret_status = r;
        line = end + 2;
    }
    return *ret_length == NO_LENGTH ? -EPROTO : 0;
}

int cli_plain_answer(const char *data, size_t len, size_t max, struct cli_plain_answer *ret)
{
    const char *end = memmem(data, SV_MIN(len, CLI_PLAIN_HEAD_MAX), "\r\n\r\n", 4);
    uint64_t length;
    int status = 0, r;
    size_t body;

    if (!end)
        return len < CLI_PLAIN_HEAD_MAX ? -EAGAIN : -EPROTO;
    body = (size_t)(end - data) + 4;
    r = head(data, body - 2, &status, &length);
    if (r < 0)
        return r;
    if (length > max || len - body > length)
        return -EPROTO;
    if (len - body < length)
        return -EAGAIN;
    *ret = (struct cli_plain_answer){ .status = status, .body = body, .len = (size_t)length };
    return 0;
}
