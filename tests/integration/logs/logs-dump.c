/* Prints a file of aggregated logs: "container ID", then for each of its files "file LENGTH SHA256
 * NAME"; at the end of the whole file "end". For tests that compare with Hadoop's reader.
 *
 *   logs-dump FILE */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logs/aggregated.h"

static int read_at(void *userdata, uint64_t offset, void *p, size_t n)
{
    const int *fd = userdata;

    return pread(*fd, p, n, (off_t)offset) == (ssize_t)n ? 0 : -EIO;
}

static ssize_t print_file(struct logs_reader *r, const char *name, uint64_t length,
                          struct sv_error *err)
{
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    unsigned char buf[1 << 16], digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    ssize_t k;

    if (!sum || EVP_DigestInit_ex(sum, EVP_sha256(), NULL) != 1)
        abort();
    while ((k = logs_reader_get(r, buf, sizeof(buf), err)) > 0)
        if (EVP_DigestUpdate(sum, buf, (size_t)k) != 1)
            abort();
    if (EVP_DigestFinal_ex(sum, digest, &n) != 1)
        abort();
    EVP_MD_CTX_free(sum);
    printf("file %llu ", (unsigned long long)length);
    for (unsigned i = 0; i < n; i++)
        printf("%02x", digest[i]);
    printf(" %s\n", name);
    return k;
}

static ssize_t print_all(struct logs_reader *r, struct sv_error *err)
{
    char id[LOGS_ID_MAX + 1], name[LOGS_FILE_NAME_MAX + 1];
    uint64_t length;
    ssize_t k;

    while ((k = logs_reader_container(r, id, err)) > 0) {
        printf("container %s\n", id);
        while (k >= 0 && (k = logs_reader_file(r, name, &length, err)) > 0)
            k = print_file(r, name, length, err);
        if (k < 0)
            break;
    }
    return k;
}

int main(int argc, char **argv)
{
    _cleanup_(logs_reader_freep) struct logs_reader *r = NULL;
    int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    struct logs_source source = { read_at, &fd, 0 };
    struct sv_error err = { 0 };
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0) {
        perror(argc == 2 ? argv[1] : "usage: logs-dump FILE");
        return 2;
    }
    source.length = (uint64_t)st.st_size;
    if (logs_reader_new(&source, &r, &err) < 0 || print_all(r, &err) < 0) {
        fprintf(stderr, "%s: %s\n", argv[1], err.text);
        return 1;
    }
    printf("end\n");
    return 0;
}
