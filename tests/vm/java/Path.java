package org.apache.hadoop.fs;

/** In place of Hadoop's: what selvedge-java-service calls. */
public final class Path {
    private final String name;

    public Path(String name) {
        this.name = name;
    }

    @Override
    public String toString() {
        return name;
    }
}
