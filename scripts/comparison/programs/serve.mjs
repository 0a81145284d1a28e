// Starts the server that a function of a file creates. Arguments: the file, and the function.

const [file, name] = process.argv.slice(2)
await (await import(`./${file}`))[name]()
