import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.TreeSet;

/**
 * Prints "METHOD PATH" for every method of a JAX-RS class, by its annotations, sorted.
 *
 * <p>Usage: RestPaths CLASS.
 */
public final class RestPaths {
    private RestPaths() {
    }

    public static void main(String[] args) throws Exception {
        TreeSet<String> lines = new TreeSet<>();
        for (Method m : Class.forName(args[0]).getDeclaredMethods()) {
            String verb = null;
            String path = "/";
            for (Annotation a : m.getAnnotations()) {
                String name = a.annotationType().getSimpleName();
                if (name.equals("Path")) {
                    path = (String) a.annotationType().getMethod("value").invoke(a);
                } else if (name.matches("GET|PUT|POST|DELETE")) {
                    verb = name;
                }
            }
            if (verb != null) {
                lines.add(verb + " " + path);
            }
        }
        for (String line : lines) {
            System.out.println(line);
        }
    }
}
