import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The applications that a service with state of its own may still know, an empty file each: one that ended while no process
 * ran must be stopped after the restart, or the service keeps it for ever.
 */
final class KnownApplications {
    private static final String NAME = "selvedge-applications";

    private final Path dir;
    private final Set<String> seen = new HashSet<>(); // in this process

    /** stateDir: null where the service keeps nothing. */
    KnownApplications(String stateDir) throws IOException {
        dir = stateDir == null ? null : Files.createDirectories(new File(stateDir, NAME).toPath());
    }

    /** Before the service is told. */
    void begin(String id) throws IOException {
        seen.add(id);
        if (dir != null && !Files.exists(dir.resolve(id))) {
            Files.createFile(dir.resolve(id));
        }
    }

    /** After the service was told. */
    void end(String id) throws IOException {
        seen.remove(id);
        if (dir != null) {
            Files.deleteIfExists(dir.resolve(id));
        }
    }

    /** Those on record that the NodeManager has not named. */
    List<String> ended() {
        List<String> found = new ArrayList<>();
        String[] names = dir == null ? null : dir.toFile().list();

        for (String name : names == null ? new String[0] : names) {
            if (!seen.contains(name)) {
                found.add(name);
            }
        }
        return found;
    }
}
