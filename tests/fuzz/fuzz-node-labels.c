/* Fuzzes the outputs of scripts of labels and attributes, and their texts in yarn-site.xml. The
 * first byte chooses which. What is accepted has valid, different names in order; written as a text
 * of the configuration it is the same. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodemanager/conf/node-labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static struct nm_labels first, again;
static char text[NM_ATTRIBUTES_MAX * (2 * NM_LABEL_MAX + 16)];

static void check_word(const char *w)
{
    MUST(isalnum((unsigned char)*w) && strlen(w) < NM_LABEL_MAX);
    for (; *w; w++)
        MUST(isalnum((unsigned char)*w) || strchr("-_.", *w));
}

static void write_again(enum nm_described kind)
{
    size_t at = 0;

    *text = '\0';
    for (size_t i = 0; i < first.n; i++) {
        const struct nm_label *l = &first.list[i];

        check_word(l->name);
        MUST((kind == NM_LABELS) == !*l->value);
        MUST(i == 0 || strcmp(first.list[i - 1].name, l->name) < 0);
        if (kind == NM_LABELS) {
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s", l->name);
            continue;
        }
        check_word(l->value);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s,STRING,%s", i ? ":" : "",
                               l->name, l->value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum nm_described kind = size && (data[0] & 1) ? NM_ATTRIBUTES : NM_LABELS;
    char *input = size ? strndup((const char *)data + 1, size - 1) : NULL;
    struct sv_error err = { 0 };
    int r;

    if (!input)
        return 0;
    r = data[0] & 2 ? nm_labels_of_output(kind, input, &first, &err)
                    : nm_labels_of_text(kind, input, &first, &err);
    MUST(r == 0 || (r == -EBADMSG && *err.text));
    if (r == 0) {
        MUST(first.n <= (kind == NM_LABELS ? 1 : NM_ATTRIBUTES_MAX));
        write_again(kind);
        MUST(nm_labels_of_text(kind, text, &again, &err) == 0 && nm_labels_equal(&first, &again));
    }
    free(input);
    return 0;
}
