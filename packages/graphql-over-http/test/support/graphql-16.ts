// Loaded with `node --import` before the tests. Every import of `graphql`, also by packages in
// node_modules, resolves to graphql 16, which is installed under the name `graphql-16`.

import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, nextResolve) {
    const [name, ...rest] = specifier.split('/')
    if (name !== 'graphql') return nextResolve(specifier, context)
    // Resolved from this file, where the alias is visible.
    const from = { ...context, parentURL: import.meta.url }
    return nextResolve(['graphql-16', ...rest].join('/'), from)
  },
})
