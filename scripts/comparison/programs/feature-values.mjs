// Values for features that cannot be probed directly.

/** Not supported: the probe checks that no name in the library's declarations matches. */
export const missing = (pattern) => ({ kind: 'missing', pattern })

/** Documented by the library, but it cannot be run here. */
export const documented = (url) => ({ kind: 'documented', url })

/** It works with an additional package. */
export const withPlugin = (name, create) => ({ kind: 'plugin', name, create })
