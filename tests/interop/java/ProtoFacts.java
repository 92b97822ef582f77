import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.OutputStream;
import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Enumeration;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Extracts the wire facts of a Hadoop version from its jars: writes the protobuf file descriptors as one
 * FileDescriptorSet and prints "protocol NAME VERSION" for every RPC interface.
 *
 * <p>Usage: ProtoFacts LIBDIR OUT. Classes of generated code are found by their method
 * getDescriptor(), by reflection, for any protobuf runtime: com.google.protobuf or a
 * relocated one.
 */
public final class ProtoFacts {
    private static final String[] JARS = {"hadoop-common-", "hadoop-yarn-api-", "hadoop-yarn-common-",
            "hadoop-yarn-server-common-", "hadoop-yarn-server-nodemanager-", "hadoop-yarn-server-resourcemanager-",
            "hadoop-hdfs-client-", "hadoop-yarn-services-core-"};

    private ProtoFacts() {
    }

    public static void main(String[] args) throws Exception {
        TreeMap<String, byte[]> files = new TreeMap<>();
        for (File jar : new File(args[0]).listFiles()) {
            for (String wanted : JARS) {
                if (jar.getName().startsWith(wanted) && !jar.getName().endsWith("-tests.jar")) {
                    scan(jar, files);
                }
            }
        }
        if (files.isEmpty()) {
            throw new IllegalStateException("no generated protobuf classes under " + args[0]);
        }
        try (OutputStream out = Files.newOutputStream(Paths.get(args[1]))) {
            for (byte[] file : files.values()) {
                ByteArrayOutputStream entry = new ByteArrayOutputStream();
                entry.write(0x0a); /* FileDescriptorSet.file = 1, length-delimited */
                int n = file.length;
                while (n >= 0x80) {
                    entry.write(n & 0x7f | 0x80);
                    n >>>= 7;
                }
                entry.write(n);
                entry.write(file);
                entry.writeTo(out);
            }
        }
        System.out.println("descriptors " + files.size());
    }

    private static void scan(File jar, TreeMap<String, byte[]> files) throws Exception {
        try (ZipFile zip = new ZipFile(jar)) {
            for (Enumeration<? extends ZipEntry> e = zip.entries(); e.hasMoreElements();) {
                String name = e.nextElement().getName();
                if (!name.startsWith("org/apache/hadoop/") || !name.endsWith(".class")) {
                    continue;
                }
                String type = name.substring(0, name.length() - 6).replace('/', '.');
                try {
                    if (name.matches(".*/proto(buf)?/\\w+\\.class")) {
                        descriptor(Class.forName(type), files);
                    } else if (name.endsWith("PB.class")) {
                        protocol(Class.forName(type));
                    }
                } catch (NoClassDefFoundError absent) {
                    /* 3.4 has one file for protobuf 2.5, which it does not ship. */
                    System.out.println("skipped " + type + ": needs " + absent.getMessage());
                }
            }
        }
    }

    private static void descriptor(Class<?> c, TreeMap<String, byte[]> files) throws Exception {
        Method m;
        try {
            m = c.getMethod("getDescriptor");
        } catch (NoSuchMethodException ordinary) {
            return;
        }
        Object file = m.invoke(null);
        Object proto = file.getClass().getMethod("toProto").invoke(file);
        String path = (String) file.getClass().getMethod("getName").invoke(file);
        files.put(path, (byte[]) proto.getClass().getMethod("toByteArray").invoke(proto));
    }

    private static void protocol(Class<?> c) throws Exception {
        for (Annotation a : c.getAnnotations()) {
            if (a.annotationType().getName().equals("org.apache.hadoop.ipc.ProtocolInfo")) {
                System.out.println("protocol " + a.annotationType().getMethod("protocolName").invoke(a) + " "
                        + a.annotationType().getMethod("protocolVersion").invoke(a));
            }
        }
    }
}
