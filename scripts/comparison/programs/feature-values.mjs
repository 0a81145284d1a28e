// What stands in the place of a probe's subject where there is nothing to run, or where it needs more.

/** No option for it: the probe checks that no name in the declarations of the library matches. */
export const missing = (pattern) => ({ kind: 'missing', pattern })

/** Its maker documents it, and it cannot be run here. */
export const documented = (url) => ({ kind: 'documented', url })

/** It works with a further package. */
export const withPlugin = (name, create) => ({ kind: 'plugin', name, create })
