import type { CommandNode, CommandOption } from '../command-tree.ts'

const merge: CommandOption = { flags: ['--merge'], summary: 'several files may define one domain' }
const json: CommandOption = { flags: ['--json'], summary: 'one JSON object instead of text' }
const strict: CommandOption = { flags: ['--strict'], summary: 'warnings count as faults' }

export const ratelimitTree: CommandNode = {
  summary: 'the rate limit service and its commands',
  commands: {
    serve: {
      summary: 'run the service',
      options: [{ flags: ['--rules'], summary: 'the rule files, watched', value: 'directory' }],
    },
    client: {
      summary: 'send a rate limit request to a server',
      options: [
        { flags: ['-dial_string'], summary: 'HOST:PORT of the server, or unix:PATH', value: 'any' },
        { flags: ['-domain'], summary: 'the domain of the rules', value: 'any' },
        { flags: ['-descriptors'], summary: 'the entries of one descriptor', value: 'any' },
        { flags: ['-hits_addend'], summary: 'the hits to add', value: 'any' },
        { flags: ['-count'], summary: 'how often to ask', value: 'any' },
        { flags: ['-json'], summary: 'print responses in JSON' },
        { flags: ['-grpc-use-tls'], summary: 'encrypt the connection' },
        { flags: ['-grpc-server-ca-file'], summary: 'trust this authority (PEM)', value: 'file' },
        { flags: ['-grpc-cert-file'], summary: 'the certificate to show (PEM)', value: 'file' },
        { flags: ['-grpc-key-file'], summary: 'its private key (PEM)', value: 'file' },
        { flags: ['-oltp-protocol'], summary: 'accepted and ignored', value: 'any' },
      ],
    },
    check: {
      summary: 'find all errors in a directory of rule files',
      options: [strict, merge, json],
      operands: 'directory',
    },
    explain: {
      summary: 'show which rule matches a descriptor, and why',
      options: [
        { flags: ['-domain'], summary: 'the domain of the request', value: 'any' },
        { flags: ['-descriptors'], summary: 'one descriptor', value: 'any' },
        { flags: ['--now'], summary: 'the Unix time to look at', value: 'any' },
        merge,
        json,
      ],
      operands: 'directory',
    },
    test: {
      summary: 'run the policy tests of a directory of rules, in simulated time',
      options: [
        { flags: ['--rules'], summary: 'the directory of the rules', value: 'directory' },
        { flags: ['--filter'], summary: 'only tests that hold the text', value: 'any' },
        merge,
        json,
        { flags: ['--junit'], summary: 'also write the results to a file', value: 'file' },
      ],
      operands: 'directory',
    },
    replay: {
      summary: 'show which recorded requests a set of rules would have refused',
      options: [
        { flags: ['--domain'], summary: 'the domain of lines that name none', value: 'any' },
        { flags: ['--time-field'], summary: 'the field with the time', value: 'any' },
        { flags: ['--domain-field'], summary: 'instead of domain', value: 'any' },
        { flags: ['--descriptors-field'], summary: 'instead of descriptors', value: 'any' },
        { flags: ['--hits-field'], summary: 'instead of hitsAddend', value: 'any' },
        { flags: ['--descriptor'], summary: 'one descriptor of an access log', value: 'any' },
        {
          flags: ['--format'],
          summary: 'how the access log is written',
          value: { choices: ['default', 'json'] },
        },
        { flags: ['--hits'], summary: 'how many hits a request counts for', value: 'any' },
        { flags: ['--strip-query'], summary: 'paths end at their question mark' },
        { flags: ['--reorder'], summary: 'how late a request may stand in the log', value: 'any' },
        merge,
        { flags: ['--compare'], summary: 'the same log through other rules too', value: 'file' },
        { flags: ['--strict'], summary: 'a line that cannot be read is a failure' },
        { flags: ['--top'], summary: 'how many of the keys refused most often', value: 'any' },
        { flags: ['--all'], summary: 'all rules, also those that refused nothing' },
        json,
        { flags: ['--chart'], summary: 'draw requests over time into this SVG', value: 'file' },
      ],
      operands: 'file',
    },
  },
}
