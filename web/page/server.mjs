// Where the guard's server is, as an address relative to this page; null: there is none, and a list for show stands in.
export default null;
