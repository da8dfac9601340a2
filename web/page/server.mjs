// The address of the guard's server, relative to this page. null: there is no server, and a
// demonstration list replaces it.
export default null;
