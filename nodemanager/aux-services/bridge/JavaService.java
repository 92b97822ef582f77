import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * Runs one of Hadoop's auxiliary services, a class, as a process: Hadoop's calls on one side, the frames of
 * docs/design/aux-services.md on the other. Hadoop's classes are used by reflection: the launcher is built without them and
 * runs with those of any version. selvedge-java-service starts it with the connection as descriptor 0.
 */
public final class JavaService {
    private static final int FRAME_MAX = 1 << 20;
    private static final int MESSAGE_MAX = 1000;
    private static final String YARN = "org.apache.hadoop.yarn.";
    private static final String CONTEXTS = YARN + "server.api.";

    private final DataInputStream in = new DataInputStream(new FileInputStream(FileDescriptor.in));
    private final OutputStream out = new FileOutputStream(FileDescriptor.in); // a socket: both ways
    private final Object service;
    private volatile List<?> localDirs = new ArrayList<>();
    private KnownApplications applications;

    private JavaService(String className) throws ReflectiveOperationException {
        service = load(className).getDeclaredConstructor().newInstance();
    }

    public static void main(String[] args) {
        if (args.length != 1) {
            System.err.println("<3>usage: JavaService CLASS");
            System.exit(2);
        }
        try {
            new JavaService(args[0]).run();
            System.exit(0);
        } catch (EOFException e) {
            System.exit(0);
        } catch (Throwable e) { // NOPMD: of a foreign class, an Error too
            System.err.println("<3>" + args[0] + ": " + text(cause(e)));
            cause(e).printStackTrace();
            System.exit(1);
        }
    }

    // ---- frames ----------------------------------------------------------------------------------

    private Map<?, ?> receive() throws IOException {
        int length = in.readInt();

        if (length < 1 || length > FRAME_MAX) {
            throw new IOException("a frame of " + length + " bytes");
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return (Map<?, ?>) Json.parse(new String(bytes, StandardCharsets.UTF_8));
    }

    private void send(String json) throws IOException {
        byte[] text = json.getBytes(StandardCharsets.UTF_8);
        ByteArrayOutputStream frame = new ByteArrayOutputStream();

        frame.write(ByteBuffer.allocate(4).putInt(text.length).array());
        frame.write(text);
        out.write(frame.toByteArray());
    }

    private static Throwable cause(Throwable e) {
        while (e instanceof InvocationTargetException && e.getCause() != null) {
            e = e.getCause();
        }
        return e;
    }

    private static String text(Throwable e) {
        String s = String.valueOf(e);

        return s.substring(0, Math.min(s.length(), MESSAGE_MAX));
    }

    // ---- the conversation ------------------------------------------------------------------------

    private void run() throws Exception {
        Map<?, ?> init = receive();

        if (!"init".equals(init.get("type")) || ((Long) init.get("protocol")) != 1) {
            send("{\"type\":\"failed\",\"seq\":0,\"message\":\"protocol 1 is needed\"}");
            throw new IOException("protocol " + init.get("protocol") + " is not known");
        }
        begin(init);
        ByteBuffer meta = (ByteBuffer) method("getMetaData", 0).invoke(service);
        byte[] bytes = new byte[meta == null ? 0 : meta.remaining()];
        if (meta != null) {
            meta.duplicate().get(bytes);
        }
        send("{\"type\":\"ready\",\"metadata\":\"" + Base64.getEncoder().encodeToString(bytes) + "\"}");
        try {
            while (true) {
                answer(receive());
            }
        } finally {
            method("stop", 0).invoke(service);
        }
    }

    private void answer(Map<?, ?> event) throws IOException {
        Throwable failure = null;

        try {
            handle(event);
        } catch (Exception | LinkageError e) { // NOPMD: of a foreign class
            failure = cause(e);
            failure.printStackTrace();
        }
        send(failure == null ? "{\"type\":\"done\",\"seq\":" + event.get("seq") + "}"
            : "{\"type\":\"failed\",\"seq\":" + event.get("seq") + ",\"message\":" + Json.quote(text(failure)) + "}");
    }

    private void begin(Map<?, ?> init) throws Exception {
        Object conf = load(YARN + "conf.YarnConfiguration").getDeclaredConstructor().newInstance();
        Method set = conf.getClass().getMethod("set", String.class, String.class);

        localDirs = (List<?>) init.get("localDirs");
        for (Map.Entry<?, ?> e : ((Map<?, ?>) init.get("properties")).entrySet()) {
            set.invoke(conf, e.getKey(), e.getValue());
        }
        set.invoke(conf, "yarn.nodemanager.local-dirs", join(localDirs));
        if (init.get("stateDir") != null) {
            set.invoke(conf, "yarn.nodemanager.recovery.enabled", "true");
            method("setRecoveryPath", 1).invoke(service, path((String) init.get("stateDir")));
        }
        applications = new KnownApplications((String) init.get("stateDir"));
        setPathHandler();
        method("init", 1).invoke(service, conf);
        method("start", 0).invoke(service);
        Exception failed = (Exception) method("getFailureCause", 0).invoke(service);
        if (failed != null) { // noted by the service and not thrown: Spark's, whose port is taken
            throw failed;
        }
    }

    private static String join(List<?> list) {
        StringBuilder s = new StringBuilder();

        for (Object one : list) {
            s.append(s.length() > 0 ? "," : "").append(one);
        }
        return s.toString();
    }

    private void stopApplication(String id) throws ReflectiveOperationException, IOException {
        method("stopApplication", 1).invoke(service, make("ApplicationTerminationContext", parse("ApplicationId", id)));
        applications.end(id);
    }

    private void handle(Map<?, ?> event) throws ReflectiveOperationException, IOException {
        switch ((String) event.get("type")) {
        case "application-init":
            applications.begin((String) event.get("applicationId"));
            method("initializeApplication", 1).invoke(service, make("ApplicationInitializationContext", event.get("user"),
                appId(event), ByteBuffer.wrap(Base64.getDecoder().decode((String) event.get("data")))));
            break;
        case "application-stop":
            stopApplication((String) event.get("applicationId"));
            break;
        case "container-init":
            method("initializeContainer", 1).invoke(service,
                make("ContainerInitializationContext", event.get("user"), containerId(event), resource(event)));
            break;
        case "container-stop":
            method("stopContainer", 1).invoke(service,
                make("ContainerTerminationContext", event.get("user"), containerId(event), resource(event)));
            break;
        case "local-dirs":
            localDirs = (List<?>) event.get("localDirs");
            break;
        case "replayed":
            for (String id : applications.ended()) {
                stopApplication(id);
            }
            break;
        case "ping":
            break;
        default:
            throw new IllegalArgumentException("unknown type " + event.get("type"));
        }
    }

    // ---- Hadoop's classes --------------------------------------------------------------------------

    private static Class<?> load(String name) throws ClassNotFoundException {
        return Class.forName(name, true, Thread.currentThread().getContextClassLoader());
    }

    private Method method(String name, int parameters) throws NoSuchMethodException {
        for (Method m : service.getClass().getMethods()) {
            if (m.getName().equals(name) && m.getParameterCount() == parameters && !m.isBridge()) {
                return m;
            }
        }
        throw new NoSuchMethodException(service.getClass().getName() + "." + name);
    }

    /* The constructor of a context with that many parameters. */
    private static Object make(String name, Object... values) throws ReflectiveOperationException {
        for (java.lang.reflect.Constructor<?> c : load(CONTEXTS + name).getConstructors()) {
            if (c.getParameterCount() == values.length) {
                return c.newInstance(values);
            }
        }
        throw new NoSuchMethodException(name);
    }

    private static Object path(String s) throws ReflectiveOperationException {
        return load("org.apache.hadoop.fs.Path").getConstructor(String.class).newInstance(s);
    }

    private static Object parse(String name, Object s) throws ReflectiveOperationException {
        return load(YARN + "api.records." + name).getMethod("fromString", String.class).invoke(null, s);
    }

    private static Object appId(Map<?, ?> event) throws ReflectiveOperationException {
        return parse("ApplicationId", event.get("applicationId"));
    }

    private static Object containerId(Map<?, ?> event) throws ReflectiveOperationException {
        return parse("ContainerId", event.get("containerId"));
    }

    private static Object resource(Map<?, ?> event) throws ReflectiveOperationException {
        return load(YARN + "api.records.Resource").getMethod("newInstance", int.class, int.class)
            .invoke(null, ((Long) event.get("memory")).intValue(), ((Long) event.get("vcores")).intValue());
    }

    /* Where a service looks for files below the local directories: Hadoop 3 gives it this object, Hadoop 2 none. */
    private void setPathHandler() throws ReflectiveOperationException {
        Class<?> type;

        try {
            type = load(CONTEXTS + "AuxiliaryLocalPathHandler");
        } catch (ClassNotFoundException e) {
            return;
        }
        method("setAuxiliaryLocalPathHandler", 1).invoke(service, Proxy.newProxyInstance(type.getClassLoader(),
            new Class<?>[] { type }, (proxy, m, args) -> findPath(m, args)));
    }

    private Object findPath(Method m, Object[] args) throws Throwable {
        List<Object> found = new ArrayList<>();

        if (m.getDeclaringClass() == Object.class) {
            return m.invoke(this, args);
        }
        for (Object dir : localDirs) {
            File file = new File((String) dir, (String) args[0]);

            if (m.getName().equals("getLocalPathForWrite") ? new File((String) dir).canWrite() : file.exists()) {
                found.add(path(file.getPath()));
            }
        }
        if (m.getName().startsWith("getAll")) {
            return found;
        }
        if (found.isEmpty()) {
            throw new FileNotFoundException(args[0] + " is in none of the local directories");
        }
        return found.get(0);
    }
}
