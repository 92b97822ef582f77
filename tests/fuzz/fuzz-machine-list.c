/* Machine lists of a federation. Each word of a line that is accepted is found again, in any case.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "federation/policy/resolver.h"
#include "federation/store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* Looks up everything between commas and line ends. */
static size_t look_up_words(const struct fed_resolver *r, char *text)
{
    size_t found = 0;

    for (char *next = text, *word; (word = strsep(&next, ",\r\n"));) {
        const uint16_t *clusters;
        size_t n = fed_resolver_rack(r, word, &clusters);
        int number = fed_resolver_node(r, word);

        must(number == -ENOENT || (size_t)number < fed_resolver_count(r));
        for (size_t i = 0; i < n; i++)
            must(clusters[i] < fed_resolver_count(r));
        found += number >= 0;
    }
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fed_resolver_notes notes;
    struct fed_resolver *r = NULL;
    struct sv_error err = { 0 };
    int e = fed_resolver_parse((const char *)data, size, &r, &notes, &err);
    char *text;

    must(e == 0 || (e == -EINVAL && *err.text));
    if (e < 0)
        return 0;
    must(fed_resolver_count(r) <= FED_MEMBERS_MAX);
    for (size_t i = 0; i < fed_resolver_count(r); i++)
        must(*fed_resolver_id(r, i) && strlen(fed_resolver_id(r, i)) <= FED_NAME_MAX);
    text = strndup((const char *)data, size);
    must(text != NULL);
    look_up_words(r, text);
    free(text);
    fed_resolver_free(r);
    return 0;
}
