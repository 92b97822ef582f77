import java.nio.file.Files;
import java.nio.file.Path;

/** Runs until the JIT compiler has compiled a method, then searches the memory map for writable and executable pages. */
public class Compiled {
    private static int sum(int n) {
        int s = 0;
        for (int i = 0; i < n; i++)
            s += i;
        return s;
    }

    public static void main(String[] args) throws Exception {
        int s = 0;
        for (int i = 0; i < 2000; i++)
            s = sum(i % 2 == 0 ? 100 : 50000);
        System.out.println("sum " + sum(100000));
        String mode = System.getProperty("java.vm.info");
        System.out.println(mode.contains("mixed mode") && s != 0 ? "compiled" : mode);
        boolean both = false;
        for (String line : Files.readAllLines(Path.of("/proc/self/maps")))
            both |= line.contains(" rwxp ");
        System.out.println(both ? "written and executed" : "no code");
    }
}
