/* Programs of bench-launch's containers, linked statically. `true` ends with 0, or with 3 when it
 * has more than two arguments: then a shell started it and not the kernel by the script's first
 * line. `pause` waits to be killed. */
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    size_t n = strlen(argv[0]);
    if (n >= 5 && strcmp(argv[0] + n - 5, "pause") == 0)
        for (;;)
            (void)pause();
    return argc > 2 ? 3 : 0;
}
