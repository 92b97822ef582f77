/* A caller on the bus for test-dbus, which does what busctl does not: many calls at once, malformed
 * ones, ends in the middle of a call, receives signals.
 *
 *     bus-client ADDRESS flood COUNT PATH     Properties.GetAll, all at once; prints the replies
 *     bus-client ADDRESS leave COUNT PATH     a call each of as many connections that end at once
 *     bus-client ADDRESS hostile PATH         prints the error of each malformed call
 *     bus-client ADDRESS signals              prints "ready", then each signal, until stdin ends
 *     bus-client ADDRESS own                  has the name until stdin ends
 *     bus-client ADDRESS log PATH NAME        OpenLog: flags of the descriptor, kind, content
 *     bus-client ADDRESS ask COUNT PATH METHOD   as many calls at once; prints each answer
 *     bus-client ADDRESS time COUNT PATH NAME  times of reading a property, or of "list"
 *     bus-client ADDRESS polkit ANSWER        is polkit until stdin ends, and prints each question.
 *         ANSWER: yes, no, challenge, garbage, error, wait (for a line on stdin, then yes)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#define NAME "org.selvedge.NodeManager1"
#define PROPERTIES "org.freedesktop.DBus.Properties"

static _Noreturn void die(const char *what, int r)
{
    fprintf(stderr, "bus-client: %s: %s\n", what, strerror(-r));
    exit(1);
}

static sd_bus *open_bus(const char *address)
{
    sd_bus *bus = NULL;
    int r = sd_bus_new(&bus);

    if (r >= 0)
        r = sd_bus_set_address(bus, address);
    if (r >= 0)
        r = sd_bus_set_bus_client(bus, true);
    if (r >= 0)
        r = sd_bus_start(bus);
    if (r < 0)
        die(address, r);
    return bus;
}

static long answered, refused;

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    (void)userdata;
    (void)error;
    if (sd_bus_message_is_method_error(m, NULL))
        refused++;
    else
        answered++;
    return 0;
}

static void flood(sd_bus *bus, long count, const char *path)
{
    for (long sent = 0; answered + refused < count;) {
        int r = 0;

        for (; sent < count && sent - answered - refused < 1000 && r >= 0; sent++)
            r = sd_bus_call_method_async(bus, NULL, NAME, path, PROPERTIES, "GetAll", on_reply,
                                         NULL, "s", "");
        if (r >= 0)
            r = sd_bus_process(bus, NULL);
        if (r == 0)
            r = sd_bus_wait(bus, UINT64_MAX);
        if (r < 0)
            die("flood", r);
    }
    printf("%ld answered, %ld refused\n", answered, refused);
}

static void leave(const char *address, long count, const char *path)
{
    for (long i = 0; i < count; i++) {
        sd_bus *bus = open_bus(address);
        int r = sd_bus_call_method_async(bus, NULL, NAME, path, PROPERTIES, "GetAll", on_reply,
                                         NULL, "s", "");

        if (r >= 0)
            r = sd_bus_flush(bus);
        if (r < 0)
            die("leave", r);
        sd_bus_close(bus);
        sd_bus_unref(bus);
    }
}

/* ---- malformed calls
 * ----------------------------------------------------------------------------*/

static sd_bus_message *new_call(sd_bus *bus, const char *path, const char *interface,
                                const char *member)
{
    sd_bus_message *m = NULL;
    int r = sd_bus_message_new_method_call(bus, &m, NAME, path, interface, member);

    if (r < 0)
        die("message", r);
    return m;
}

static void show(sd_bus *bus, const char *what, sd_bus_message *m)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    int r = sd_bus_call(bus, m, 0, &error, &reply);

    printf("%s: %s\n", what, r >= 0 ? "answered" : error.name ? error.name : strerror(-r));
    sd_bus_error_free(&error);
    sd_bus_message_unref(reply);
    sd_bus_message_unref(m);
}

static void append(sd_bus_message *m, const char *types, const char *text)
{
    int r = sd_bus_message_append(m, types, text, text, text);

    if (r < 0)
        die("append", r);
}

static void append_deep(sd_bus_message *m)
{
    static const char *const inner = "v";
    int depth = 0, r = 0;

    while (r >= 0 && depth < 60) {
        r = sd_bus_message_open_container(m, 'v', inner);
        depth += r >= 0;
    }
    r = sd_bus_message_open_container(m, 'v', "s");
    if (r >= 0)
        r = sd_bus_message_append(m, "s", "deep");
    for (; r >= 0 && depth >= 0; depth--)
        r = sd_bus_message_close_container(m);
    if (r < 0)
        die("deep", r);
}

static void append_array(sd_bus_message *m, int n)
{
    int r = sd_bus_message_open_container(m, 'a', "s");

    for (int i = 0; i < n && r >= 0; i++)
        r = sd_bus_message_append(m, "s", "x");
    if (r >= 0)
        r = sd_bus_message_close_container(m);
    if (r < 0)
        die("array", r);
}

static void hostile(sd_bus *bus, const char *path)
{
    sd_bus_message *m = new_call(bus, path, PROPERTIES, "Get");
    size_t size = (size_t)12 << 20; /* twice that is below the limit of a message */
    char *big = malloc(size);
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (!big || fd < 0)
        die("hostile", -errno);
    memset(big, 'a', size - 1);
    big[size - 1] = 0;
    show(bus, "no arguments", m);
    append(m = new_call(bus, path, PROPERTIES, "Get"), "s", NAME ".Container");
    show(bus, "one argument", m);
    append(m = new_call(bus, path, PROPERTIES, "Get"), "ss", big);
    show(bus, "long text", m);
    append_array(m = new_call(bus, path, PROPERTIES, "Get"), 100000);
    show(bus, "long array", m);
    append_deep(m = new_call(bus, path, PROPERTIES, "GetAll"));
    show(bus, "deep variant", m);
    m = new_call(bus, path, PROPERTIES, "GetAll");
    if (sd_bus_message_append(m, "h", fd) < 0)
        die("descriptor", -EINVAL);
    show(bus, "descriptor", m);
    append(m = new_call(bus, path, PROPERTIES, "Set"), "sss", "x");
    show(bus, "set", m);
    show(bus, "no interface", new_call(bus, path, NULL, "GetAll"));
    show(bus, "no method", new_call(bus, path, PROPERTIES, "Take"));
    show(bus, "other path",
         new_call(bus, "/org/selvedge/NodeManager1/container/_2e_2e_2fx", PROPERTIES, "GetAll"));
    show(bus, "foreign path", new_call(bus, "/etc", PROPERTIES, "GetAll"));
    show(bus, "half an escape",
         new_call(bus, "/org/selvedge/NodeManager1/container/_5", PROPERTIES, "GetAll"));
    free(big);
}

/* ---- signals
 * ------------------------------------------------------------------------------------*/

static int on_signal(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    (void)userdata;
    (void)error;
    (void)sd_bus_message_dump(m, stdout, SD_BUS_MESSAGE_DUMP_WITH_HEADER);
    fflush(stdout);
    return 0;
}

static int on_stdin(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    (void)fd;
    (void)events;
    (void)userdata;
    return sd_event_exit(sd_event_source_get_event(s), 0);
}

static void receive(sd_bus *bus, bool own)
{
    sd_event *event = NULL;
    int r = sd_event_default(&event);

    if (r >= 0 && own)
        r = sd_bus_request_name(bus, NAME, 0);
    if (r >= 0)
        r = sd_event_add_io(event, NULL, 0, EPOLLIN | EPOLLHUP, on_stdin, NULL);
    if (r >= 0)
        r = sd_bus_add_match(bus, NULL, "type='signal',sender='" NAME "'", on_signal, NULL);
    if (r >= 0)
        r = sd_bus_attach_event(bus, event, 0);
    puts("ready");
    fflush(stdout);
    if (r >= 0)
        r = sd_event_loop(event);
    if (r < 0)
        die("signals", r);
}

/* ---- methods
 * ------------------------------------------------------------------------------------*/

static void open_log(sd_bus *bus, const char *path, const char *name)
{
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message *reply = NULL;
    char buf[4096];
    struct stat st;
    ssize_t n;
    int fd, r = sd_bus_call_method(bus, NAME, path, NAME ".Container", "OpenLog", &error, &reply,
                                   "s", name);

    if (r < 0) {
        printf("%s\n", error.name ? error.name : strerror(-r));
        sd_bus_error_free(&error);
        return;
    }
    if (sd_bus_message_read(reply, "h", &fd) < 0 || fstat(fd, &st) < 0)
        die("descriptor", -EINVAL);
    printf("%s %s ", (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY ? "read-only" : "writable",
           S_ISREG(st.st_mode) ? "file" : "other");
    fflush(stdout);
    while ((n = read(fd, buf, sizeof(buf))) > 0)
        if (write(STDOUT_FILENO, buf, (size_t)n) != n)
            die("write", -errno);
    sd_bus_message_unref(reply);
}

static int on_method_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    const sd_bus_error *e = sd_bus_message_get_error(m);

    (void)userdata;
    (void)error;
    answered++;
    if (e)
        printf("%s: %s\n", e->name, e->message);
    else
        puts("done");
    fflush(stdout);
    return 0;
}

static void ask(sd_bus *bus, long count, const char *path, const char *method)
{
    int r = 0;

    for (long i = 0; i < count && r >= 0; i++)
        r = sd_bus_call_method_async(bus, NULL, NAME, path, NAME ".Container", method,
                                     on_method_reply, NULL, "");
    while (r >= 0 && answered < count) {
        r = sd_bus_process(bus, NULL);
        if (r == 0)
            r = sd_bus_wait(bus, UINT64_MAX);
    }
    if (r < 0)
        die(method, r);
}

/* ---- polkit
 * -------------------------------------------------------------------------------------*/

static const char *verdict;
static sd_bus_message *held;

static int decide(sd_bus_message *m, const char *what)
{
    if (!strcmp(what, "garbage"))
        return sd_bus_reply_method_return(m, "s", "yes");
    if (!strcmp(what, "error"))
        return sd_bus_reply_method_errorf(m, "org.freedesktop.PolicyKit1.Error.Failed", "no");
    return sd_bus_reply_method_return(m, "(bba{ss})", !strcmp(what, "yes"),
                                      !strcmp(what, "challenge"), 0);
}

static int on_question(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
    const char *kind, *key, *sender, *action, *name, *value;
    int r = sd_bus_message_read(m, "(sa{sv})s", &kind, 1, &key, "s", &sender, &action);

    (void)userdata;
    (void)error;
    if (r < 0 || sd_bus_message_enter_container(m, 'a', "{ss}") < 0)
        die("question", r);
    printf("%s %s %s", kind, key, action);
    while (sd_bus_message_read(m, "{ss}", &name, &value) > 0)
        printf(" %s=%s", name, value);
    puts(sender[0] == ':' ? "" : " not a unique name");
    fflush(stdout);
    if (strcmp(verdict, "wait") != 0)
        return decide(m, verdict);
    held = sd_bus_message_ref(m);
    return 1;
}

static int on_line(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    char line[64];

    (void)events;
    (void)userdata;
    if (read(fd, line, sizeof(line)) <= 0)
        return sd_event_exit(sd_event_source_get_event(s), 0);
    return held ? decide(held, "yes") : 0;
}

static void polkit(sd_bus *bus, const char *answer)
{
    sd_event *event = NULL;
    int r = sd_event_default(&event);

    verdict = answer;
    if (r >= 0)
        r = sd_bus_add_object(bus, NULL, "/org/freedesktop/PolicyKit1/Authority", on_question,
                              NULL);
    if (r >= 0)
        r = sd_bus_request_name(bus, "org.freedesktop.PolicyKit1", 0);
    if (r >= 0)
        r = sd_event_add_io(event, NULL, 0, EPOLLIN | EPOLLHUP, on_line, NULL);
    if (r >= 0)
        r = sd_bus_attach_event(bus, event, 0);
    puts("ready");
    fflush(stdout);
    if (r >= 0)
        r = sd_event_loop(event);
    if (r < 0)
        die("polkit", r);
}

/* ---- times of calls, for bench-node ---- */

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static uint64_t now_usec(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int call(sd_bus *bus, const char *path, const char *name, sd_bus_message **ret)
{
    if (!strcmp(name, "list"))
        return sd_bus_call_method(bus, NAME, path, "org.freedesktop.DBus.ObjectManager",
                                  "GetManagedObjects", NULL, ret, NULL);
    if (!strcmp(name, "bus"))
        return sd_bus_call_method(bus, "org.freedesktop.DBus", path, "org.freedesktop.DBus",
                                  "GetId", NULL, ret, NULL);
    if (!strcmp(name, "systemd"))
        return sd_bus_call_method(bus, "org.freedesktop.systemd1", path, PROPERTIES, "Get", NULL,
                                  ret, "ss", "org.freedesktop.systemd1.Service", "MemoryCurrent");
    return sd_bus_call_method(bus, NAME, path, PROPERTIES, "Get", NULL, ret, "ss",
                              NAME ".Container", name);
}

/* One after the other. `name`: a property of the container at `path`, "list", "systemd": the memory
 * of the service at `path`, or "bus": what the bus answers itself. */
static void measure(sd_bus *bus, long count, const char *path, const char *name)
{
    uint64_t *usec = calloc((size_t)count, sizeof(*usec));

    for (long i = 0; usec && i < count; i++) {
        uint64_t begin = now_usec();
        sd_bus_message *reply = NULL;
        int r = call(bus, path, name, &reply);

        usec[i] = now_usec() - begin;
        sd_bus_message_unref(reply);
        if (r < 0)
            die(name, r);
    }
    if (!usec || count < 1)
        die("time", -EINVAL);
    qsort(usec, (size_t)count, sizeof(*usec), by_value);
    printf("{\"p50_us\": %llu, \"p99_us\": %llu, \"max_us\": %llu}\n",
           (unsigned long long)usec[count / 2], (unsigned long long)usec[count * 99 / 100],
           (unsigned long long)usec[count - 1]);
    free(usec);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";
    sd_bus *bus;

    if (argc < 3)
        die("usage", -EINVAL);
    bus = open_bus(argv[1]);
    if (!strcmp(what, "flood") && argc == 5)
        flood(bus, strtol(argv[3], NULL, 10), argv[4]);
    else if (!strcmp(what, "leave") && argc == 5)
        leave(argv[1], strtol(argv[3], NULL, 10), argv[4]);
    else if (!strcmp(what, "hostile") && argc == 4)
        hostile(bus, argv[3]);
    else if (!strcmp(what, "log") && argc == 5)
        open_log(bus, argv[3], argv[4]);
    else if (!strcmp(what, "ask") && argc == 6)
        ask(bus, strtol(argv[3], NULL, 10), argv[4], argv[5]);
    else if (!strcmp(what, "polkit") && argc == 4)
        polkit(bus, argv[3]);
    else if (!strcmp(what, "time") && argc == 6)
        measure(bus, strtol(argv[3], NULL, 10), argv[4], argv[5]);
    else if (!strcmp(what, "signals") || !strcmp(what, "own"))
        receive(bus, what[0] == 'o');
    else
        die(what, -EINVAL);
    sd_bus_flush_close_unref(bus);
    return 0;
}
