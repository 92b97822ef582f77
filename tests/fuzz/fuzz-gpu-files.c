/* Fuzzes what is read of GPUs: CDI specifications, the driver's files, nvidia-smi's output, and the
 * list that a container names. The first byte says which. What is accepted has absolute paths
 * without "..", names that an environment can have, numbers in range; every refusal has its text.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "nodemanager/conf/cdi-spec.h"
#include "nodemanager/core/container.h"
#include "nodemanager/resources/gpu-proc.h"
#include "nodemanager/resources/gpu-smi.h"
#include "nodemanager/resources/wanted-gpus.h"
#include "wire/container-variables.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check_place(const struct nm_cdi_place *p)
{
    MUST(p->host[0] == '/' && p->inside[0] == '/');
    MUST(!strstr(p->host, "/../") && !strstr(p->inside, "/../"));
}

static void check_edits(const struct nm_cdi_edits *e)
{
    MUST(e->n_nodes <= NM_CDI_LIST_MAX && e->n_mounts <= NM_CDI_LIST_MAX);
    for (size_t i = 0; i < e->n_nodes; i++) {
        check_place(&e->nodes[i]);
        MUST(strncmp(e->nodes[i].host, "/dev/", 5) == 0);
    }
    for (size_t i = 0; i < e->n_mounts; i++)
        check_place(&e->mounts[i]);
    for (size_t i = 0; i < e->n_env; i++) {
        MUST(*e->env_names[i] && !isdigit((unsigned char)*e->env_names[i]));
        for (const char *c = e->env_names[i]; *c; c++)
            MUST(isalnum((unsigned char)*c) || *c == '_');
    }
}

static void cdi(const char *text, size_t n)
{
    struct sv_error err = { 0 };
    struct nm_cdi_spec *s = NULL;

    if (nm_cdi_parse(text, n, "f", &s, &err) < 0) {
        MUST(err.text[0]);
        return;
    }
    MUST(strchr(s->kind, '/') && s->n <= NM_CDI_DEVICES_MAX);
    check_edits(&s->all);
    for (size_t i = 0; i < s->n; i++)
        check_edits(&s->devices[i].edits);
    (void)nm_cdi_spec_free(s);
}

static void check_name(const char *s)
{
    for (; *s; s++)
        MUST(isalnum((unsigned char)*s) || *s == '-' || *s == '/');
}

static void driver(const char *text, size_t n)
{
    struct sv_error err = { 0 };
    struct nm_gpu_card card;
    uint32_t minor = 0;

    if (nm_gpu_parse_information(text, n, &card, &err) == 0) {
        MUST(card.minor <= NM_GPU_MINOR_MAX);
        check_name(card.uuid);
        MUST(!strchr(card.bus, '/'));
    } else {
        MUST(err.text[0]);
    }
    MUST(nm_gpu_parse_access(text, n, &minor, &err) < 0 || minor < 1U << 20);
}

static void program(const char *text, size_t n)
{
    static struct nm_smi smi;
    struct sv_error err = { 0 };
    size_t cut = n / 2;

    if (nm_smi_parse(text, n, &smi, &err) < 0) { /* then the first half, and a list of the rest */
        MUST(err.text[0]);
        if (nm_smi_parse(text, cut, &smi, &err) < 0)
            return;
        nm_smi_parse_list(text + cut, n - cut, &smi);
    }
    MUST(smi.n <= NM_SMI_GPUS_MAX);
    for (size_t i = 0; i < smi.n; i++) {
        MUST(smi.v[i].minor <= NM_GPU_MINOR_MAX && smi.v[i].n_mig <= NM_SMI_MIG_MAX);
        check_name(smi.v[i].uuid);
        for (size_t k = 0; k < smi.v[i].n_mig; k++)
            check_name(smi.v[i].mig[k].uuid);
    }
}

static void wanted(const char *text, size_t n)
{
    char key[] = YARN_VARIABLE_GPUS, value[512];
    Hadoop__Yarn__StringStringMapProto one = HADOOP__YARN__STRING_STRING_MAP_PROTO__INIT;
    Hadoop__Yarn__StringStringMapProto *list[] = { &one };
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    struct nm_container c = { .clc = &clc, .text = "c" };
    struct nm_wanted_gpus w;
    struct sv_error err = { 0 };
    size_t named = 0;

    if (n == 0 || n > sizeof(value))
        return;
    memcpy(value, text + 1, n - 1);
    value[n - 1] = '\0';
    one.key = key;
    one.value = value;
    clc.environment = list;
    clc.n_environment = 1;
    c.resource.gpus = (uint8_t)text[0];
    if (nm_wanted_gpus(&c, &w, &err) < 0) {
        MUST(err.text[0]);
        return;
    }
    for (size_t i = 0; i < NM_GPUS_MAX; i++)
        named += w.place[i];
    MUST(named == w.n && (int64_t)w.n == c.resource.gpus);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + 1;

    if (size == 0)
        return 0;
    if (data[0] == 'c')
        cdi(text, size - 1);
    else if (data[0] == 'd')
        driver(text, size - 1);
    else if (data[0] == 'w')
        wanted(text, size - 1);
    else
        program(text, size - 1);
    return 0;
}
