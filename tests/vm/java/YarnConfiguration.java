package org.apache.hadoop.yarn.conf;

/** In place of Hadoop's: what selvedge-java-service calls. */
public final class YarnConfiguration {
    public void set(String name, String value) {
        // SampleService has no configuration
    }
}
