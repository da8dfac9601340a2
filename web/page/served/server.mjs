// The same server has this page.
export default './';
