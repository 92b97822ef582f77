import java.lang.reflect.Field;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.TreeSet;

/**
 * Prints the state machine of the NodeManager's containers, "FROM EVENT TO" for every transition, sorted: from the table of
 * ContainerImpl's StateMachineFactory, which nothing publishes.
 */
public final class ContainerGraph {
    private ContainerGraph() {
    }

    private static Object field(Object of, Class<?> in, String name) throws Exception {
        Field f = in.getDeclaredField(name);
        f.setAccessible(true);
        return f.get(of);
    }

    private static boolean has(Class<?> c, String name) {
        for (Field f : c.getDeclaredFields()) {
            if (f.getName().equals(name)) {
                return true;
            }
        }
        return false;
    }

    public static void main(String[] args) throws Exception {
        Class<?> container =
            Class.forName("org.apache.hadoop.yarn.server.nodemanager.containermanager.container.ContainerImpl");
        Object factory = field(null, container, "stateMachineFactory");
        TreeSet<String> lines = new TreeSet<>();
        Map<?, ?> table = (Map<?, ?>) field(factory, factory.getClass(), "stateMachineTable");
        for (Map.Entry<?, ?> state : table.entrySet()) {
            for (Map.Entry<?, ?> event : ((Map<?, ?>) state.getValue()).entrySet()) {
                Object arc = event.getValue();
                Collection<?> to = has(arc.getClass(), "postState")
                    ? Collections.singleton(field(arc, arc.getClass(), "postState"))
                    : (Collection<?>) field(arc, arc.getClass(), "validPostStates");
                for (Object next : to) {
                    lines.add(state.getKey() + " " + event.getKey() + " " + next);
                }
            }
        }
        for (String line : lines) {
            System.out.println(line);
        }
    }
}
