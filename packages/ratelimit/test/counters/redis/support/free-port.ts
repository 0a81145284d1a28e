/** For a port beside the main one: a bus, or TLS. */
export { findFreePort } from '@portcullis/test-servers'
