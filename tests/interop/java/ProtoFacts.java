import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.OutputStream;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Enumeration;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Writes the protobuf file descriptors that a Hadoop version's jars carry as one FileDescriptorSet.
 *
 * <p>Usage: ProtoFacts LIBDIR OUT. Classes of generated code are found by their method
 * getDescriptor(), by reflection only, so that it does not matter which protobuf runtime
 * (com.google.protobuf or a relocated one) a version was generated with.
 */
public final class ProtoFacts {
    private static final String[] JARS = {"hadoop-common-", "hadoop-yarn-api-", "hadoop-yarn-common-",
            "hadoop-yarn-server-common-", "hadoop-yarn-server-nodemanager-", "hadoop-yarn-server-resourcemanager-"};

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
        System.out.println(files.size() + " descriptors: " + String.join(" ", files.keySet()));
    }

    private static void scan(File jar, TreeMap<String, byte[]> files) throws Exception {
        try (ZipFile zip = new ZipFile(jar)) {
            for (Enumeration<? extends ZipEntry> e = zip.entries(); e.hasMoreElements();) {
                String name = e.nextElement().getName();
                if (!name.matches("org/apache/hadoop/.*/proto(buf)?/\\w+\\.class")) {
                    continue;
                }
                Method m;
                try {
                    m = Class.forName(name.substring(0, name.length() - 6).replace('/', '.'), true,
                            ProtoFacts.class.getClassLoader()).getMethod("getDescriptor");
                } catch (NoSuchMethodException ordinary) {
                    continue;
                } catch (NoClassDefFoundError absent) {
                    /* 3.3 and later keep one file for callers with protobuf 2.5, which they do not ship. */
                    System.out.println("skipped " + name + ": needs " + absent.getMessage());
                    continue;
                }
                Object file = m.invoke(null);
                Object proto = file.getClass().getMethod("toProto").invoke(file);
                String path = (String) file.getClass().getMethod("getName").invoke(file);
                files.put(path, (byte[]) proto.getClass().getMethod("toByteArray").invoke(proto));
            }
        }
    }
}
