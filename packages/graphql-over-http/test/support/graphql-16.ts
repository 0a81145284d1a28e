// Loaded with `node --import` before the tests: whoever imports `graphql`, a package in
// node_modules included, gets graphql 16, which is installed under the name `graphql-16`.

import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, nextResolve) {
    const [name, ...rest] = specifier.split('/')
    if (name !== 'graphql') return nextResolve(specifier, context)
    // Resolved from here, where the alias is known to be visible.
    const from = { ...context, parentURL: import.meta.url }
    return nextResolve(['graphql-16', ...rest].join('/'), from)
  },
})
